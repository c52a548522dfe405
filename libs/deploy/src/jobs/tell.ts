/** What the end of a run means for its job, and what is recorded of it: a trouble once, and once more when it is over. */
import type { JobEntry, JobOutcome, JobRun, RunningJob } from '@runner/common/apps/job-book';
import type { AppState } from '@runner/common/apps/state';
import type { DeployEvent } from '@runner/common/audit/events';
import { durationText } from '@runner/common/text/time';
import type { AppChange } from '../alerts/announce.ts';
import type { JobAttempt } from './attempt.ts';

/** What a job did. */
export interface JobNews {
  readonly event_type: 'JobFailed' | 'JobMissed' | 'JobRecovered' | 'JobSlow';
  readonly reason: string;
  readonly more?: Partial<DeployEvent>;
}

/** What a job did, as a change of its app. */
export function changeOf(
  app: AppState,
  { rules, instance }: JobEntry,
  { event_type, reason, more }: JobNews,
): AppChange {
  const version = app.instances[instance]?.current?.version;
  const common = { instance, job: rules.name, ...(version !== undefined && { version }) };
  return { app, change: { event_type, reason, ...common, ...more } };
}

/** A run is recorded with the version that it ran, which a deploy may have replaced. */
export function ofVersion({ version }: Pick<JobRun, 'version'>): Partial<DeployEvent> {
  return version === null ? {} : { version };
}

/** What is news of a job, and the entry that knows of it. */
export interface ToldJob {
  readonly entry: JobEntry;
  readonly news: readonly JobNews[];
}

/** A trouble that began at `at`, or goes on: only its beginning is news. */
export function troubled(
  entry: JobEntry,
  kind: 'failed' | 'missed',
  at: string,
  beginning: JobNews,
): ToldJob {
  const { trouble } = entry;
  if (trouble?.kind !== kind)
    return { entry: { ...entry, trouble: { since: at, kind, count: 1 } }, news: [beginning] };
  return { entry: { ...entry, trouble: { ...trouble, count: trouble.count + 1 } }, news: [] };
}

/** What is over, in words. */
export function troubleWords({ kind, since }: NonNullable<JobEntry['trouble']>): string {
  return `${kind === 'failed' ? 'had failed' : 'had been missed'} since ${since}`;
}

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
