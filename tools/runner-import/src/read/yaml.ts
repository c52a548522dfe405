/** YAML as the tools read it: with aliases. */
import { Failure } from '@runner/common/foundation/failure';
import { readYaml } from '@runner/common/yaml/read';
import { EntryList, type SourceEntry } from '../plan/entry.ts';

/** Every value of a YAML file. Throws `not_imported`. */
export function yamlEntries(text: string, file: string): SourceEntry[] {
  const name = { name: file, code: 'not_imported' } as const;
  const list = new EntryList(file);
  list.addTree(readYaml(Buffer.from(text), name, { aliases: true }));
  if (list.all.every(({ path }) => path.length === 0))
    throw new Failure('not_imported', `${file}: has no keys`);
  return list.all;
}
