/**
 * The commits between two of an app. A second mirror, `history.git`, keeps commits without their trees,
 * and no more of them than were needed.
 */
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { namesIn, readIfThere } from '@runner/common/files/read';
import { gitFailure } from './failure.ts';
import { gitIn } from './git.ts';
import { atAddress, commitIn, fetchRefs, isRefused } from './remote.ts';
import type { GitSource } from './source.ts';

/** A commit in one line each. */
export interface CommitSummary {
  readonly commit: string;
  readonly author: string;
  /** ISO 8601, UTC: when it was committed. */
  readonly date: string;
  readonly subject: string;
}

/** How many commits back the first fetch reaches, and each further one if that was not enough. */
const DEPTHS = [50, 1_000, 2_147_483_647];
/** Each fetch leaves a pack; with more packs than this the mirror is made again. */
const PACKS = 50;
/** Most commits that are listed. */
const LIST_MAX = 1_000;
/** Limit of a text, in characters. */
const TEXT_MAX = 200;
/** Largest list of commits without parents here, in bytes. */
const SHALLOW_MAX = 16_777_216;

/**
 * The commits that `to` has and `from` has not, the newest first and at most 1,000; undefined if the host has not `from` any more, cannot
 * leave out trees, or the way is longer than `reach` allows.
 */
export async function commitsBetween(
  source: GitSource,
  from: string,
  to: string,
  reach: 'near' | 'far',
): ReturnType<typeof between> {
  const history = historyOf(source);
  const { mirror } = history;
  // A person may just have allowed filters.
  if (reach === 'near' && isUnfiltered(history)) return undefined;
  if (namesIn(join(mirror, 'objects/pack')).length > 3 * PACKS)
    rmSync(mirror, { recursive: true, force: true });
  const known = existsSync(join(mirror, 'HEAD')) ? await between(history, from, to) : undefined;
  if (known) return known;
  for (const depth of reach === 'near' ? DEPTHS.slice(0, 2) : DEPTHS) {
    const isComplete = await fetchCommits(history, [from, to], depth);
    if (isComplete === undefined) return undefined;
    const found = await between(history, from, to);
    if (found) return found;
    if (isComplete) return undefined;
  }
  return undefined;
}

/** The source with the mirror that has commits alone. */
export function historyOf(source: GitSource): GitSource {
  return { ...source, mirror: join(dirname(source.mirror), 'history.git') };
}

/**
 * Fetches the history of a commit, deeper at each call with the next `step` from 0, with trees where the
 * host cannot leave them out. Resolves whether there was such a step. Throws what fetching throws.
 */
export async function fetchHistory(source: GitSource, commit: string, step: number) {
  const depth = DEPTHS[step];
  if (depth === undefined) return false;
  const history = historyOf(source);
  if (!isUnfiltered(history) && (await fetchCommits(history, [commit], depth)) !== undefined)
    return true;
  const { answer } = await atAddress(source, (url) =>
    fetchRefs(source, url, [`+${commit}:refs/runner/signed`], { options: [`--depth=${depth}`] }),
  );
  if (answer.status !== 0) throw gitFailure(source, answer);
  return true;
}

/** Lies in the place of a mirror if the host sends trees anyway. */
const UNFILTERED = 'unfiltered';
/** After this time, in ms, the host is asked again: its operator may have allowed filters. */
const UNFILTERED_FOR = 3_600_000;

function isUnfiltered({ io, mirror }: GitSource): boolean {
  const marked = statSync(join(mirror, UNFILTERED), { throwIfNoEntry: false })?.mtimeMs;
  return marked !== undefined && io.now().getTime() - marked < UNFILTERED_FOR;
}

/** Fetches commits alone, at most two. Resolves whether nothing more can be fetched; undefined if nothing was. */
async function fetchCommits(source: GitSource, commits: readonly string[], depth: number) {
  const { mirror } = source;
  const refspecs = commits.map(
    (commit, at) => `+${commit}:refs/runner/${at === 0 ? 'from' : 'to'}`,
  );
  const { answer } = await atAddress(source, (url) =>
    fetchRefs(source, url, refspecs, { mirror, options: [`--depth=${depth}`, '--filter=tree:0'] }),
  );
  if (/filtering not recognized/i.test(answer.stderr)) {
    rmSync(join(mirror, 'objects'), { recursive: true, force: true });
    rmSync(join(mirror, 'HEAD'), { force: true });
    writeFileSync(join(mirror, UNFILTERED), '');
    return undefined;
  }
  if (answer.status === 0) {
    rmSync(join(mirror, UNFILTERED), { force: true });
    return shallowCommits(mirror).size === 0;
  }
  if (isRefused(answer)) return undefined;
  throw gitFailure(source, answer);
}

/** The commits whose parents the mirror lacks. */
function shallowCommits(mirror: string): ReadonlySet<string> {
  const text = readIfThere(join(mirror, 'shallow'), SHALLOW_MAX)?.toString('latin1') ?? '';
  return new Set(text.split('\n').filter(Boolean));
}

const FIELDS = '%H%x00%an%x00%ct%x00%s';

/** Lists what the mirror has; undefined if that is not all. */
async function between(source: GitSource, from: string, to: string) {
  for (const each of [from, to]) if ((await commitIn(source, each)) !== each) return undefined;
  const range = ['--end-of-options', `${from}..${to}`];
  const listed = await gitIn(source, ['rev-list', ...range]);
  if (listed.status !== 0) return undefined;
  const ids = listed.stdout.toString('latin1').split('\n').filter(Boolean);
  // Beyond such a commit there may be more, or what `from` has too.
  const shallow = shallowCommits(source.mirror);
  if (ids.some((id) => shallow.has(id))) return undefined;
  const log = ['log', '-z', `--max-count=${LIST_MAX}`, '--encoding=UTF-8', `--format=${FIELDS}`];
  const shown = await gitIn(source, [...log, ...range]);
  if (shown.status !== 0) return undefined;
  const fields = shown.stdout.toString('utf8').split('\0');
  const commits: CommitSummary[] = [];
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const [commit = '', author = '', seconds = '', subject = ''] = fields.slice(at, at + 4);
    const date = dateOf(seconds);
    commits.push({ commit, author: shortLine(author), date, subject: shortLine(subject) });
  }
  return { commits, count: ids.length };
}

function dateOf(seconds: string): string {
  const date = new Date(Number(seconds || Number.NaN) * 1000);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}

/** One line of bounded length. */
export function shortLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, TEXT_MAX).toWellFormed();
}

/** What a commit says about itself; absent if git does not say. */
export interface CommitInfo {
  /** One line, as is `author`. */
  readonly subject?: string;
  readonly author?: string;
  /** ISO 8601, UTC: by the committer's clock. */
  readonly committed_at?: string;
}

/** Reads a commit that was fetched. */
export async function commitInfo(source: GitSource, commit: string): Promise<CommitInfo> {
  const format = ['--encoding=UTF-8', '--format=%an%x00%s%x00%ct'];
  const { status, stdout } = await gitIn(source, [
    'show',
    '-s',
    ...format,
    '--end-of-options',
    commit,
  ]);
  if (status !== 0) return {};
  const [author = '', subject = '', seconds = ''] = stdout
    .toString('utf8')
    .split('\0')
    .map(shortLine);
  const committed_at = dateOf(seconds);
  return {
    ...(subject && { subject }),
    ...(author && { author }),
    ...(committed_at && { committed_at }),
  };
}
