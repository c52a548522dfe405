/** What a planned deploy brings: commits, their authors, and the files that differ. */

import type { PlanSummary } from '@runner/common/apps/plans';
import type { ChangeSummary } from '@runner/common/apps/state';
import { changesOf } from '../git/changes.ts';
import { commitInfo } from '../git/commit-info.ts';
import { git } from '../git/git.ts';
import { commitsBetween, historyOf, shortLine } from '../git/history.ts';
import { fetchMissing } from '../git/same-paths.ts';
import type { GitSource } from '../git/source.ts';

/** Paths that are listed. */
const PATHS = 50;

/** `authors`: `name <address>` of who wrote or co-wrote them; without `from`, of the commit alone. */
export async function broughtCommits(
  source: GitSource,
  from: string | undefined,
  to: string,
): Promise<Pick<PlanSummary, 'files'> & { changes: ChangeSummary; authors: string[] }> {
  const changes = await changesOf(source, from, to, await commitInfo(source, to));
  const isRange =
    from !== undefined && from !== to && (await commitsBetween(source, from, to, 'far'));
  const range = isRange ? `${from}..${to}` : to;
  const format = '--format=%an <%ae>%n%cn <%ce>%n%(trailers:key=Co-authored-by,valueonly)';
  const log = ['log', ...(isRange ? [] : ['--max-count=1']), '--encoding=UTF-8', format];
  const listed = await ask(isRange ? historyOf(source) : source, [
    ...log,
    '--end-of-options',
    range,
  ]);
  const authors = [...new Set(listed)].filter(Boolean);
  return { changes, authors, files: isRange ? await filesOf(source, from, to) : null };
}

async function filesOf(source: GitSource, from: string, to: string): Promise<PlanSummary['files']> {
  const there = await fetchMissing(source, [to, from]);
  if (there.length < 2) return null;
  const diff = ['diff-tree', '-r', '--name-only', '--no-renames', '--end-of-options', from, to];
  const paths = (await ask(source, diff)).filter(Boolean);
  return { count: paths.length, paths: paths.slice(0, PATHS).map(shortLine) };
}

/** Lines; none if git cannot say. */
async function ask({ io, mirror, signal }: GitSource, args: readonly string[]): Promise<string[]> {
  const { status, stdout } = await git(io, args, { cwd: mirror, signal });
  return status === 0 ? stdout.toString('utf8').split('\n') : [];
}
