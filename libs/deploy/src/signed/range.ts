/** The commits between the last accepted commit and another one, and which of them no signer signed. */
import { Failure } from '@runner/common/foundation/failure';
import { fetchHistory } from '../git/history.ts';
import type { GitSource } from '../git/source.ts';
import { judge, type Verdict } from './judge.ts';
import { withObjects } from './objects.ts';
import type { CommitSigners } from './signers.ts';
import { type IdentifiedCommit, type Walked, type WalkRequest, walk } from './walk.ts';

export interface RefusedCommit extends IdentifiedCommit {
  readonly why: string;
}

/** By whose keys commits are judged, and when. */
export interface Judging {
  readonly signers: CommitSigners;
  readonly now: Date;
}

/** Judges a commit that was read; undefined: the mirror lacks it. */
export async function judgeCommit(
  { signers, now }: Judging,
  commit: IdentifiedCommit | undefined,
): Promise<Verdict> {
  if (!commit) return { why: 'is not in the mirror' };
  if (commit.subject === undefined) return { why: 'is not as git makes commits' };
  return judge(signers, commit, now);
}

/** Judges commits in their order, a few at a time: each OpenPGP signature is a process. */
export async function judgeAll(
  judging: Judging,
  commits: readonly (IdentifiedCommit | undefined)[],
): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (let at = 0; at < commits.length; at += AT_ONCE) {
    const some = commits.slice(at, at + AT_ONCE);
    verdicts.push(...(await Promise.all(some.map((each) => judgeCommit(judging, each)))));
  }
  return verdicts;
}

const AT_ONCE = 8;
/** Seconds by which the clocks of committers may differ without more of the history being read. */
const CLOCKS = 86_400;

/**
 * Walks from a commit back to the last accepted one, and judges what is between, if asked to. Throws
 * `lineage_broken` if the code host has not all of it, and what fetching throws.
 */
export async function freshCommits(
  source: GitSource,
  range: { readonly head: string; readonly accepted: string },
  judging: Judging | undefined,
): Promise<{ descends: boolean; refused: readonly RefusedCommit[] }> {
  const refusedOf = async ({ fresh }: Walked): Promise<RefusedCommit[]> => {
    const verdicts = judging ? await judgeAll(judging, fresh) : [];
    return fresh.flatMap((commit, at) => {
      const verdict = verdicts[at];
      return verdict && 'why' in verdict ? [{ ...commit, why: verdict.why }] : [];
    });
  };
  const walked = await walkAll(source, range);
  const refused = await refusedOf(walked);
  if (refused.length === 0) return { ...walked, refused };
  // Where clocks were wrong, what is refused may be as old as the accepted commit.
  const since = Math.min(...refused.map(({ date }) => date)) - CLOCKS;
  const again = await walkAll(source, { ...range, since });
  return { ...again, refused: await refusedOf(again) };
}

/** Walks, and fetches more of the history while that is needed. Throws `lineage_broken`. */
export async function walkAll(source: GitSource, request: WalkRequest): Promise<Walked> {
  for (let step = 0; ; step += 1) {
    const walked = await withObjects(source, (reader) => walk(reader, request));
    const { missing } = walked;
    if (missing === undefined) return walked;
    if (await fetchHistory(source, request.head, step)) continue;
    const message = `the code host has not the whole history of ${request.head.slice(0, 12)}: ${missing.slice(0, 12)} is missing`;
    throw new Failure('lineage_broken', message, { commit: request.head });
  }
}
