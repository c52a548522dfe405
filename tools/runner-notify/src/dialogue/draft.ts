/** config.yml as it will be after the setup. */
import type { Config } from '@runner/common/config/file';
import type { SectionEntry, Tree } from '@runner/common/yaml/schema';
import type { ConfigValues } from '../service/contract.ts';

/** The configuration with these keys replaced, in section `notify` and at the top level. */
export function draftOf(config: Config, values: ConfigValues): Config {
  const top = entriesOf(config.tree).filter(({ key }) => !Object.hasOwn(values, key));
  const section = top.find(({ key }) => key === 'notify');
  // A value that is not a section stays, so that it is reported.
  if (section && section.value.kind !== 'map' && !isEmpty(section.value)) return config;
  const notify = Object.entries(values).reduce<Tree | undefined>(
    (tree, [key, value]) => withValue(tree, key.split('.'), value),
    section?.value,
  );
  const others = top.filter(({ key }) => key !== 'notify');
  const entries = notify ? [...others, entry('notify', notify)] : others;
  return { file: config.file, tree: { kind: 'map', line: 1, entries } };
}

/** A section with one key replaced, however deep; undefined removes it. */
function withValue(
  tree: Tree | undefined,
  [key = '', ...rest]: readonly string[],
  value: ConfigValues[string],
): Tree {
  const before = entriesOf(tree);
  const old = before.find((each) => each.key === key)?.value;
  const changed = rest.length > 0 ? withValue(old, rest, value) : treeOf(value);
  const entries = before.filter((each) => each.key !== key);
  return {
    kind: 'map',
    line: tree?.line ?? 1,
    entries: changed ? [...entries, entry(key, changed)] : entries,
  };
}

function treeOf(value: ConfigValues[string]): Tree | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'object')
    return { kind: 'list', line: 1, items: value.flatMap((each) => treeOf(each) ?? []) };
  return { kind: 'scalar', line: 1, value, source: `${value}` };
}

function entry(key: string, value: Tree): SectionEntry {
  return { key, line: value.line, value };
}

function entriesOf(tree: Tree | undefined): readonly SectionEntry[] {
  return tree?.kind === 'map' ? tree.entries : [];
}

function isEmpty(tree: Tree): boolean {
  return tree.kind === 'scalar' && tree.value === null;
}
