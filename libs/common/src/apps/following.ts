/** What an app follows on the code host: a branch or tags, and which paths of the repository matter. */
import { Failure } from '../foundation/failure.ts';
import { refName } from '../foundation/names.ts';
import type { AppState, TagRule } from './state.ts';

/** The part of a state that says what is followed. */
export type FollowedSource = Pick<AppState, 'branch' | 'tags' | 'paths'>;

/** A repository with its host, for people: `gitlab:group/sub/name`. */
export function repoLabel({ host, repo }: { readonly host?: string | undefined; repo: string }) {
  return host === undefined ? repo : `${host}:${repo}`;
}

/** `main`, or `tags v* (^1)`. */
export function followedWords({
  branch,
  tags,
}: {
  branch: string;
  tags?: TagRule | null | undefined;
}): string {
  if (!tags) return branch;
  return `tags ${tags.pattern}${tags.semver === null ? '' : ` (${tags.semver})`}`;
}

/** What ends a wait: `push to main`, `tag v* (^1)`, `push to main that changes apps/shop/**`. */
export function newsWords(app: FollowedSource): string {
  const what = app.tags ? followedWords(app).replace('tags', 'tag') : `push to ${app.branch}`;
  return app.paths ? `${what} that changes ${app.paths.join(', ')}` : what;
}

/** Limit of a pattern and of a range, in characters. */
const TEXT_MAX = 200;
/** Limit of the pathspecs of an app. */
const PATHS_MAX = 50;

/** Checks the tags to follow. Throws `name_invalid`. */
export async function tagRule(pattern: string, range: string | undefined): Promise<TagRule> {
  refName(pattern.replaceAll(/[*?]/g, 'x'), 'tag pattern');
  if (range === undefined) return { pattern, semver: null };
  const { default: semver } = await import('semver');
  if (range.length <= TEXT_MAX && range.trim() !== '' && semver.validRange(range) !== null)
    return { pattern, semver: range.trim() };
  throw new Failure(
    'name_invalid',
    `'${range.slice(0, 80)}' is not a range of semver: give one such as ^1, ~1.4 or >=2.1 <3`,
  );
}

/** Words that git knows between `:(` and `)`. */
const MAGIC = ['attr', 'exclude', 'glob', 'icase', 'literal', 'top'];

/** Splits and checks a list of pathspecs; undefined for an empty one. Throws `name_invalid`. */
export function pathspecs(text: string): string[] | undefined {
  // A comma between parentheses belongs to the words in front of a path.
  const all = text
    .split(/,(?![^(]*\))/)
    .map((each) => each.trim())
    .filter(Boolean);
  for (const each of all) {
    const words = /^:\(([^)]*)\)/.exec(each)?.[1]?.split(',') ?? [];
    const path = each.replace(/^:\([^)]*\)|^:[!^/]*/, '');
    const isBad =
      each.length > TEXT_MAX ||
      /[\x00-\x1f\x7f]/.test(each) ||
      /^:\([^)]*$/.test(each) ||
      words.some((word) => word !== '' && !MAGIC.includes(word)) ||
      path.startsWith('/') ||
      path.split('/').includes('..');
    if (isBad)
      throw new Failure(
        'name_invalid',
        `'${each.slice(0, 80)}' is not a path of the repository: give a pathspec of git such as apps/shop/**`,
      );
  }
  if (all.length > PATHS_MAX)
    throw new Failure('name_invalid', `more than ${PATHS_MAX} paths: give folders`);
  return all.length > 0 ? all : undefined;
}
