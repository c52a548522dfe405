/** config.yml as it will be after the setup. */
import type { Config } from '@runner/common/config/file';
import type { Entry, Tree } from '@runner/common/yaml/schema';
import type { ConfigValues } from '../service/contract.ts';

/** The configuration with these keys replaced, in section `notify` and at the top level. */
export function draftOf(config: Config, values: ConfigValues): Config {
  const top = entriesOf(config.tree).filter(({ key }) => !Object.hasOwn(values, key));
  const section = top.find(({ key }) => key === 'notify');
  // A value that is not a section stays, so that it is reported.
  if (section && section.value.kind !== 'map' && !isEmpty(section.value)) return config;
  const kept = entriesOf(section?.value).filter(({ key }) => !Object.hasOwn(values, key));
  const given = Object.entries(values).flatMap(([key, value]): Entry[] =>
    value === undefined ? [] : [entry(key, { kind: 'scalar', line: 1, value, source: `${value}` })],
  );
  const notify = entry('notify', {
    kind: 'map',
    line: section?.line ?? 1,
    entries: [...kept, ...given],
  });
  const others = top.filter(({ key }) => key !== 'notify');
  return { file: config.file, tree: { kind: 'map', line: 1, entries: [...others, notify] } };
}

function entry(key: string, value: Tree): Entry {
  return { key, line: value.line, value };
}

function entriesOf(tree: Tree | undefined): readonly Entry[] {
  return tree?.kind === 'map' ? tree.entries : [];
}

function isEmpty(tree: Tree): boolean {
  return tree.kind === 'scalar' && tree.value === null;
}
