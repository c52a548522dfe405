/** What a planned deploy brings: commits, their authors, and the files that differ. */

import type { ChangeSummary } from '@runner/common/apps/deployed';
import type { PlanSummary } from '@runner/common/apps/plans';
import type { AppState } from '@runner/common/apps/state';
import { Failure } from '@runner/common/foundation/failure';
import { changesOf } from '../git/changes.ts';
import { gitIn } from '../git/git.ts';
import { commitInfo, commitsBetween, shortLine } from '../git/history.ts';
import { fetchMissing } from '../git/same-paths.ts';
import type { GitSource } from '../git/source.ts';
import { walkAll } from '../signed/range.ts';

const PATHS = 50;
const AUTHORS = 10;

export async function broughtCommits(
  source: GitSource,
  from: string | undefined,
  to: string,
): Promise<Pick<PlanSummary, 'files'> & { changes: ChangeSummary }> {
  if (from === to) return { changes: { count: 0, subjects: [], authors: [] }, files: null };
  const changes = await changesOf(source, from, to, await commitInfo(source, to));
  const isRange = from !== undefined && (await commitsBetween(source, from, to, 'far'));
  return { changes, files: isRange ? await filesOf(source, from, to) : null };
}

const COMMITS_MAX = 100_000;

/** Who wrote, co-wrote or committed what a deploy brings, as `name <address>`, and how many commits that is. */
interface KnownAuthors {
  readonly authors: readonly string[];
  readonly count: number | null;
}

/** What the instances run that are deployed, or all, if those are new. */
export function activeCommits(app: AppState, instance: string | undefined): readonly string[] {
  const all = Object.entries(app.instances).flatMap(([name, { current }]) =>
    current ? [{ name, commit: current.commit }] : [],
  );
  const own = all.filter(({ name }) => name === instance);
  return (own.length > 0 ? own : all).map(({ commit }) => commit);
}

/**
 * The authors of what `to` has and one of the active commits has not; without an active commit that is the whole
 * history. undefined: of more commits than are read. Throws `lineage_broken` if the code host has not all of
 * them, and what fetching throws.
 */
export async function authorsOf(
  source: GitSource,
  active: readonly string[],
  to: string,
): Promise<KnownAuthors | undefined> {
  const commits = new Map<string, Buffer>();
  for (const accepted of active.length > 0 ? new Set(active) : [undefined]) {
    const range = { head: to, accepted, limit: COMMITS_MAX };
    const { fresh } = await walkAll(source, range).catch((error) => {
      if (!(error instanceof Failure && error.code === 'lineage_broken')) throw error;
      throw new Failure(
        error.code,
        `not_author needs to know who wrote the commits: ${error.message}`,
      );
    });
    if (fresh.length >= COMMITS_MAX) return undefined;
    for (const { id, payload } of fresh) commits.set(id, payload);
  }
  const authors = new Set([...commits.values()].flatMap(authorsIn));
  return { authors: [...authors], count: commits.size };
}

/** Where the host cannot say what is between two commits, what reading all of them found. */
export function withAuthors(
  changes: ChangeSummary,
  known: KnownAuthors | undefined,
): ChangeSummary {
  if (changes.count !== null || !known?.count) return changes;
  const names = known.authors.map((each) => shortLine(each.replace(/\s*<[^<]*$/, '')));
  return { ...changes, count: known.count, authors: [...new Set(names)].slice(0, AUTHORS) };
}

/** Of one commit. A line of its message that looks like a trailer is one. */
function authorsIn(payload: Buffer): string[] {
  const [header = '', ...message] = payload.toString('utf8').split('\n\n');
  const all = [
    ...header.matchAll(/^(?:author|committer) (.*>)/gm),
    ...message.join('\n\n').matchAll(/^co-authored-by[ \t]*:(.*)$/gim),
  ];
  return all.map(([, author = '']) => author.trim()).filter(Boolean);
}

async function filesOf(source: GitSource, from: string, to: string): Promise<PlanSummary['files']> {
  const there = await fetchMissing(source, [to, from]);
  if (there.length < 2) return null;
  const diff = ['diff-tree', '-r', '--name-only', '--no-renames', '--end-of-options', from, to];
  const paths = (await ask(source, diff)).filter(Boolean);
  return { count: paths.length, paths: paths.slice(0, PATHS).map(shortLine) };
}

/** Lines; none if git cannot say. */
async function ask(source: GitSource, args: readonly string[]): Promise<string[]> {
  const { status, stdout } = await gitIn(source, args);
  return status === 0 ? stdout.toString('utf8').split('\n') : [];
}
