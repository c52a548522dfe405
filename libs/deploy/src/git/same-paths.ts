/** Whether two commits are the same to an app that follows paths of its repository. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AppState } from '@runner/common/apps/state';
import { Failure } from '@runner/common/foundation/failure';
import { gitIn } from './git.ts';
import { commitIn, fetchById } from './remote.ts';
import type { GitSource } from './source.ts';

/** Commits to compare under some paths. */
interface PathComparison {
  readonly commit: string;
  readonly others: readonly string[];
  readonly paths: readonly string[];
  /** The mirror of another app, which may have what this one lacks. */
  readonly lender?: string;
}

/**
 * The others in which nothing under the paths differs from `commit`; undefined if the mirrors lack one of
 * them.
 */
export async function samePaths(
  source: GitSource,
  { commit, others, paths, lender }: PathComparison,
): Promise<ReadonlySet<string> | undefined> {
  if (!existsSync(join(source.mirror, 'HEAD'))) return undefined;
  const same = new Set<string>();
  for (const each of new Set(others)) {
    const isSame = each === commit || (await isUnchanged(source, [each, commit], paths, lender));
    if (isSame === undefined) return undefined;
    if (isSame) same.add(each);
  }
  return same;
}

/** The tree without files; only git's SHA-1 repositories know it. */
const EMPTY = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** That nothing of a commit is under the paths that its app follows: no push would be deployed. */
export async function pathsNote(
  source: GitSource,
  commit: string,
  { app, paths = [] }: Pick<AppState, 'app' | 'paths'>,
): Promise<string[]> {
  const isEmpty = paths.length > 0 && (await isUnchanged(source, [EMPTY, commit], paths));
  const words = `paths: nothing in the commit matches ${paths.join(',')}, so no push is deployed`;
  return isEmpty ? [`${words}; run: runner edit ${app} --paths <PATHS>`] : [];
}

async function isUnchanged(
  source: GitSource,
  commits: readonly [from: string, to: string],
  paths: readonly string[],
  lender?: string,
): Promise<boolean | undefined> {
  const args = ['diff-tree', '-r', '--quiet', '--no-renames', '--end-of-options', ...commits, '--'];
  const lent = lender === undefined ? {} : { lender };
  const { status } = await gitIn(source, [...args, ...paths], lent);
  return status === 0 ? true : status === 1 ? false : undefined;
}

/** Fetches what the mirror lacks of these commits, under the app's lock; one the host lost is left out. */
export async function fetchMissing(source: GitSource, commits: readonly string[]) {
  const there: string[] = [];
  for (const commit of new Set(commits)) {
    try {
      await fetchById(source, commit);
      if (await commitIn(source, commit)) there.push(commit);
    } catch (error) {
      if (!(error instanceof Failure && error.code === 'ref_not_found')) throw error;
    }
  }
  return there;
}
