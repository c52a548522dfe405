/** The changes of a deploy in short, for its record and its messages. */
import type { ChangeSummary } from '@runner/common/apps/deployed';
import { Failure } from '@runner/common/foundation/failure';
import { type CommitInfo, type CommitSummary, commitsBetween } from './history.ts';
import type { GitSource } from './source.ts';

/** Subjects that are kept. */
const SUBJECTS = 5;
/** Authors that are kept. */
const AUTHORS = 10;
/** A host that answers slowly must not hold a deploy up, in milliseconds. */
const TIMEOUT = 20_000;

/** What a deploy from one commit to another brings; without the earlier one, the commit itself. */
export async function changesOf(
  source: GitSource,
  from: string | undefined,
  to: string,
  about: CommitInfo,
): Promise<ChangeSummary> {
  const itself = summary(
    [{ commit: to, author: about.author ?? '', date: '', subject: about.subject ?? '' }],
    null,
  );
  if (from === undefined || from === to) return itself;
  const compare = source.compare(from, to);
  const link = compare === undefined ? {} : { compare };
  const signal = AbortSignal.any([source.signal, AbortSignal.timeout(TIMEOUT)]);
  try {
    const found = await commitsBetween({ ...source, signal }, from, to, 'near');
    return { ...(found ? summary(found.commits, found.count) : itself), ...link };
  } catch (error) {
    // Of no importance to the deploy.
    if (error instanceof Failure && !source.signal.aborted) return { ...itself, ...link };
    throw error;
  }
}

function summary(commits: readonly CommitSummary[], count: number | null): ChangeSummary {
  const authors = new Set(commits.map(({ author }) => author).filter(Boolean));
  return {
    count,
    subjects: commits.slice(0, SUBJECTS).map(({ subject }) => subject),
    authors: [...authors].slice(0, AUTHORS),
  };
}
