/** YAML as the tools read it: with aliases. */
import { readYaml } from '@runner/common/yaml/read';
import { EntryList, type SourceEntry, sourceName, unreadable } from '../plan/entry.ts';

/** Every value of a YAML file. Throws `not_imported`. */
export function yamlEntries(text: string, file: string): SourceEntry[] {
  const name = { name: sourceName(file), code: 'not_imported' } as const;
  const list = new EntryList(file);
  list.addTree(readYaml(Buffer.from(text), name, { aliases: true }));
  if (list.all.every(({ path }) => path.length === 0)) throw unreadable(file, 'has no keys');
  return list.all;
}
