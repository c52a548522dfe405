/** The tags that an app follows: which match, and which of them is the highest. */
import type { TagRule } from '@runner/common/apps/state';
import type { SemVer } from 'semver';

/** A tag and its commit: of an annotated one, the commit that it was put on. */
export interface Tag {
  readonly name: string;
  readonly commit: string;
}

/** A branch or tag and what it points to; an annotated tag is listed twice. */
export type Ref = readonly [sha: string, name: string];

const TAGS = 'refs/tags/';
const PEELED = '^{}';

/** Whether a tag can be a version, which is shown in messages and tables. */
export function isShowable(tag: string): boolean {
  return /^[\w.+/@-]{1,100}$/.test(tag);
}

export function tagsOf(refs: readonly Ref[]): Tag[] {
  const commits = new Map<string, string>();
  for (const [commit, ref] of refs) {
    if (!ref.startsWith(TAGS)) continue;
    const name = ref.slice(TAGS.length);
    // The commit of an annotated tag is listed after the tag itself.
    if (name.endsWith(PEELED)) commits.set(name.slice(0, -PEELED.length), commit);
    else commits.set(name, commit);
  }
  return [...commits].map(([name, commit]) => ({ name, commit }));
}

/** Compares tags that match a rule; `compare(a, b) > 0`: `a` is higher. */
type TagOrder = Awaited<ReturnType<typeof orderOf>>;

/**
 * The order of a rule's tags. Versions are ordered as semver says; a tag that is not a version, which no
 * range has, comes below them and is ordered by its numbers. A pre-release counts only if the range, or a
 * pattern such as `v*-rc.*`, names it.
 */
export async function orderOf({ pattern, semver: range }: TagRule) {
  const { default: semver } = await import('semver');
  const literal = pattern.split(/[*?]/, 1)[0] as string;
  const prefix = literal.replace(/v?[\d.]*$/, '');
  const namesPreReleases = range === null && pattern.slice(prefix.length).includes('-');
  const versionOf = (name: string): SemVer | null =>
    name.startsWith(prefix) ? semver.parse(name.slice(prefix.length)) : null;
  const glob = globOf(pattern);
  const names = (name: string) => isShowable(name) && glob.test(name);
  return {
    /** Whether the pattern matches, whatever the range says. */
    names,
    matches(name: string): boolean {
      if (!names(name)) return false;
      const version = versionOf(name);
      if (!version) return range === null;
      return namesPreReleases || semver.satisfies(version, range ?? '*');
    },
    compare(a: string, b: string): number {
      const [one, other] = [versionOf(a), versionOf(b)];
      const byVersion =
        one && other
          ? one.compare(other) || one.compareBuild(other)
          : Number(!!one) - Number(!!other);
      return byVersion || a.localeCompare(b, 'en', { numeric: true });
    },
  };
}

/** The highest of the tags that match. */
export function highest(tags: readonly Tag[], order: TagOrder): Tag | undefined {
  const matching = tags.filter(({ name }) => order.matches(name));
  return matching.sort((a, b) => order.compare(a.name, b.name)).at(-1);
}

function globOf(pattern: string): RegExp {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\/-]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 's');
}

/** Why the version that runs stays, whatever the host lists. */
export interface KeptVersion {
  readonly result: 'tag_moved' | 'tag_deleted' | 'up_to_date';
  readonly text: string;
}

/**
 * Why an app stays at the tag that it runs: the tag was moved or deleted on the host, or is higher than
 * what matches now. undefined if it goes up to `head`, or runs no tag of the rule.
 */
export function keptTag(
  order: TagOrder,
  tags: readonly Tag[],
  head: Tag | undefined,
  running: { readonly version: string; readonly commit: string },
): KeptVersion | undefined {
  const { version, commit } = running;
  const there = tags.find(({ name }) => name === version);
  // A version without a tag is the beginning of its commit.
  const isTag = order.names(version) && (there !== undefined || !commit.startsWith(version));
  if (!isTag || (head && order.compare(head.name, version) > 0)) return undefined;
  const stays = `${version} of ${commit.slice(0, 12)} stays`;
  const away = head && head.name !== version ? ` and is not replaced by ${head.name}` : '';
  if (!there)
    return { result: 'tag_deleted', text: `the tag ${version} was deleted: ${stays}${away}` };
  if (there.commit !== commit) {
    const text = `the tag ${version} was moved to ${there.commit.slice(0, 12)}: ${stays}${away}`;
    return { result: 'tag_moved', text };
  }
  if (!head || head.name === version) return undefined;
  return { result: 'up_to_date', text: `up to date: ${version} is higher than ${head.name}` };
}
