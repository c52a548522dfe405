/** What the end of a run means for its job: pure. */
import type { JobEntry, JobOutcome, RunningJob } from '@runner/common/apps/job-book';
import { durationText } from '@runner/common/text/time';
import type { JobAttempt } from './attempt.ts';
import { type JobNews, ofVersion, type ToldJob, troubled, troubleWords } from './tell.ts';

/** A slow run took more than `times` the median of at least `of` good ones, and more than `least` ms. */
const SLOW = { times: 3, of: 5, least: 10_000 };

/** A run whose attempts are over. */
export type EndedAttempts = JobAttempt & { readonly attempts: number; readonly ms: number };

/** Whether it worked, and who ended it. */
export function outcomeOf(attempt: JobAttempt, run: RunningJob): JobOutcome {
  const { reason, isInterrupted, isGone } = attempt;
  if (isGone) return 'skipped';
  if (reason === undefined) return 'ok';
  if (!isInterrupted) return 'failed';
  return run.endedBy ? 'ended' : 'killed';
}

/** What is news of an end; of a run by hand only that a trouble is over: an operator sees how it ends. */
export function toldOf(
  entry: JobEntry,
  run: JobEntry['runs'][number],
  { now, done, isByHand }: { now: string; done: EndedAttempts; isByHand: boolean },
): ToldJob {
  const { name } = entry.rules;
  const more = { duration_ms: run.ms, ...ofVersion(run) };
  const isQuiet = run.outcome === 'ended' || run.outcome === 'skipped';
  if (isQuiet || (isByHand && run.outcome !== 'ok')) return { entry, news: [] };
  if (run.outcome !== 'ok') {
    const reason = `job ${name}: ${run.reason}`;
    const { error = reason, cause } = done;
    const facts = { ...more, error, ...(cause && { cause }) };
    return troubled(entry, 'failed', now, { event_type: 'JobFailed', reason, more: facts });
  }
  const news: JobNews[] = [];
  if (entry.trouble) {
    const reason = `job ${name} ${troubleWords(entry.trouble)}`;
    news.push({ event_type: 'JobRecovered', reason, more });
  }
  const usual = medianOf(entry);
  const isSlow = usual !== undefined && run.ms > SLOW.least && run.ms > SLOW.times * usual;
  if (isSlow && !entry.slow) {
    const reason = `job ${name} took ${durationText(run.ms)}, as a rule ${durationText(usual)}`;
    news.push({ event_type: 'JobSlow', reason, more });
  }
  return { entry: { ...entry, trouble: null, slow: isSlow }, news };
}

/** The median of its good runs, in ms; undefined if there are too few. */
function medianOf({ runs }: JobEntry): number | undefined {
  const good = runs.filter(({ outcome }) => outcome === 'ok').map(({ ms }) => ms);
  if (good.length < SLOW.of) return undefined;
  good.sort((a, b) => a - b);
  return good[Math.floor(good.length / 2)];
}
