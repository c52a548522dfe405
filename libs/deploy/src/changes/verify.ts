/** `runner verify --last`: which commits of an app are signed by someone root named. */
import type { RequireSigned, SignedBy } from '@runner/common/apps/signed';
import type { AppState } from '@runner/common/apps/state';
import { cleanRecord } from '@runner/common/redaction/record';
import { shortLine } from '../git/history.ts';
import { type SourceRequest, sourceOf } from '../git/open.ts';
import { fetchWanted, type ResolvedRef } from '../git/ref.ts';
import type { GitSource } from '../git/source.ts';
import { underLock } from '../journal/lock.ts';
import type { Verdict } from '../signed/judge.ts';
import { type Judging, judgeAll, walkAll } from '../signed/range.ts';
import { headVerdict } from '../signed/require.ts';
import { readSigners } from '../signed/signers.ts';

/** How long to wait for the app's lock, in milliseconds. */
export const LOCK_WAIT = 15_000;

/** A commit, its signer or why it would be refused. */
export interface VerifiedCommit {
  commit: string;
  /** ISO 8601, UTC: when it was committed. */
  date: string;
  subject: string;
  signed_by: SignedBy | null;
  /** Words that follow the name of the commit; null if it would be accepted. */
  refused: string | null;
}

/** What `runner verify --last` prints. */
export interface Verification {
  app: string;
  require_signed: RequireSigned | null;
  /** Newest first. */
  commits: VerifiedCommit[];
  refused: number;
}

/**
 * Verifies the newest `last` commits of what the app follows. Throws `signers_invalid`, `locked`, and
 * what fetching throws.
 */
export async function verifyCommits(
  request: SourceRequest,
  app: AppState,
  last: number,
): Promise<Verification> {
  const { io, paths } = request;
  const { source, redact } = sourceOf(request, app);
  const judging = { signers: readSigners(paths), now: io.now() };
  return underLock({ ...request, app: app.app, wait: LOCK_WAIT }, 'verify', async () => {
    const commits = await verified(source, judging, await fetchWanted(source, undefined), last);
    const refused = commits.filter((commit) => commit.refused !== null).length;
    const { require_signed = null } = app;
    return cleanRecord({ app: app.app, require_signed, commits, refused }, redact);
  });
}

async function verified(
  source: GitSource,
  judging: Judging,
  head: ResolvedRef,
  limit: number,
): Promise<VerifiedCommit[]> {
  const { fresh } = await walkAll(source, { head: head.commit, accepted: undefined, limit });
  const verdicts = await judgeAll(judging, fresh);
  if (head.tag !== undefined) verdicts[0] = await headVerdict(source, judging, head);
  return fresh.map(({ id: commit, date: seconds, subject = '' }, at) => {
    const date = new Date(seconds * 1000).toISOString();
    return { commit, date, subject: shortLine(subject), ...signerOf(verdicts[at]) };
  });
}

/** A verdict as it is printed. */
export function signerOf(
  verdict: Verdict | undefined,
): Pick<VerifiedCommit, 'signed_by' | 'refused'> {
  if (verdict && 'signed_by' in verdict) return { signed_by: verdict.signed_by, refused: null };
  return { signed_by: null, refused: verdict?.why ?? 'was not judged' };
}
