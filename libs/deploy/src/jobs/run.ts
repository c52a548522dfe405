/** One run of a job in the active release, and what its end means for the job. */
import {
  type JobEntry,
  type JobOutcome,
  type RunningJob,
  readJobBook,
} from '@runner/common/apps/job-book';
import type { AppState } from '@runner/common/apps/state';
import { findApp, requireApp } from '@runner/common/apps/store';
import { newDeployId } from '@runner/common/audit/events';
import { takeLock } from '@runner/common/files/lock';
import { removeIfThere } from '@runner/common/files/read';
import { Failure } from '@runner/common/foundation/failure';
import type { Server } from '@runner/common/foundation/paths';
import { choiceOf } from '@runner/common/text/nearest';
import { durationText } from '@runner/common/text/time';
import { oldLogs } from '../run/log.ts';
import { type Attempted, attemptJob } from './attempt.ts';
import { changeJobBook, hasJobs } from './book.ts';
import { isAlive, startRun } from './look.ts';
import { type JobRequest, jobPaths } from './request.ts';
import { withRun } from './settle.ts';
import { type JobNews, tell, troubled } from './tell.ts';

/** Before a run that failed is tried once more, in ms. */
const RETRY_PAUSE = 10_000;
/** Seconds until the process that it follows has let the lock go. */
const LOCK_WAIT = 15;
/** A run is slow if it took so many times the median of these many good ones before it, and so many ms. */
const SLOW = { times: 3, of: 5, least: 10_000 };

/** How a run ended. */
export interface JobEnd {
  readonly app: string;
  readonly job: string;
  readonly id: string;
  readonly outcome: JobOutcome;
  readonly version: string | null;
  readonly duration_ms: number;
  readonly log: string;
  /** Of its command; null if it had none. */
  readonly status: number | null;
  readonly reason?: string;
}

/** The entry of a job. Throws `app_not_found`, `job_not_found`. */
export function requireJob({ io, paths }: Server, name: string, job: string): [AppState, JobEntry] {
  const app = requireApp(paths, name);
  const jobs = hasJobs({ paths }, app)
    ? changeJobBook({ io, paths }, app, (book) => book.jobs)
    : {};
  const entry = Object.hasOwn(jobs, job) ? jobs[job] : undefined;
  if (entry) return [app, entry];
  const known = Object.keys(jobs);
  const has = known.length === 0 ? '; it has none' : choiceOf('it has', job, known);
  throw new Failure('job_not_found', `'${name}' has no job '${job.slice(0, 80)}'${has}`);
}

/** Runs a job for an operator. Throws `locked` while it runs already. */
export async function runByHand(request: JobRequest): Promise<JobEnd> {
  const { io, paths, app: name, job } = request;
  const [app] = requireJob(request, name, job);
  const id = newDeployId(io.random);
  changeJobBook(request, app, ({ jobs }) => {
    const entry = jobs[job] as JobEntry;
    const { run } = entry;
    if (run && isAlive(paths, name, job, { run, now: io.now() }))
      throw new Failure('locked', `job ${job} of '${name}' runs already, since ${run.at}`);
    const started: RunningJob = { id, due: null, at: io.now().toISOString(), version: null };
    jobs[job] = { ...entry, run: started };
  });
  const end = await carryRun(request, id);
  if (!end) throw new Failure('locked', `job ${job} of '${name}' runs already`);
  return end;
}

/** Carries a run that was begun, and those that waited for it. undefined if another process does. */
export async function carryRun(request: JobRequest, id: string): Promise<JobEnd | undefined> {
  const { io, paths, app, job } = request;
  const holder = { pid: io.pid, command: 'job', id, since: io.now().toISOString() };
  const lock = takeLock(paths.jobLock(app, job), LOCK_WAIT, holder);
  if (!lock) return undefined;
  try {
    let first: JobEnd | undefined;
    for (let next: string | undefined = id; next !== undefined; ) {
      lock.note({ id: next });
      const done: Ended | undefined = await runOnce(request, next);
      first ??= done?.end;
      next = done?.next;
      if (!request.signal.aborted) continue;
      // This process was told to end: another one takes the lock.
      if (next !== undefined) startRun({ io, paths }, app, job, next);
      break;
    }
    return first;
  } finally {
    lock.release();
  }
}

interface Ended {
  readonly end: JobEnd;
  /** The run that waited for it. */
  readonly next: string | undefined;
}

async function runOnce(request: JobRequest, id: string): Promise<Ended | undefined> {
  const { io, paths, app: name, job, signal } = request;
  const app = findApp(paths, name);
  const entry = readJobBook(paths, name)?.jobs[job];
  if (!app || !entry || entry.run?.id !== id) return undefined;
  const began = io.elapsed();
  const noted = (version: string) =>
    changeJobBook(request, app, ({ jobs }) => {
      const now = jobs[job];
      if (now?.run) jobs[job] = { ...now, run: { ...now.run, version } };
    });
  let done = await attemptJob(request, entry, id, noted);
  let attempts = 1;
  while (done.reason !== undefined && attempts <= entry.rules.retry && !signal.aborted) {
    await pause(RETRY_PAUSE, signal);
    if (signal.aborted) break;
    attempts += 1;
    done = await attemptJob(request, entry, id, noted);
  }
  return finish(request, id, { ...done, attempts, ms: Math.round(io.elapsed() - began) });
}

type Whole = Attempted & { readonly attempts: number; readonly ms: number };

/** Writes how a run ended, and tells what is news. */
async function finish(request: JobRequest, id: string, done: Whole): Promise<Ended | undefined> {
  const { io, paths, app: name, job } = request;
  const { reason, ms, attempts, version, status } = done;
  const now = io.now().toISOString();
  const app = findApp(paths, name);
  if (!app) return undefined;
  const news: JobNews[] = [];
  const written = changeJobBook(request, app, ({ jobs }) => {
    const entry = jobs[job];
    const { run } = entry ?? {};
    if (!entry || run?.id !== id) return undefined;
    const outcome = outcomeOf(done, run);
    const { endedBy: _, ...rest } = run;
    const tries = attempts > 1 ? { attempts } : {};
    const over = {
      ...rest,
      version,
      ms,
      outcome,
      ...tries,
      ...(reason !== undefined && { reason }),
    };
    const told = toldOf({ ...entry, run: null }, over, {
      now,
      done,
      isByHand: run.due === null && !run.endedBy,
    });
    news.push(...told.news);
    const isLeft = run.endedBy === 'deploy' || (!run.endedBy && request.signal.aborted);
    const waits = entry.waiting !== null && !isLeft;
    const next = waits ? newDeployId(io.random) : undefined;
    const started = { due: entry.waiting, at: now, version: null };
    jobs[job] = {
      ...withRun(told.entry, over),
      ...(next !== undefined && { run: { id: next, ...started }, waiting: null }),
    };
    return { entry: told.entry, outcome, next };
  });
  if (!written) return undefined;
  for (const path of oldLogs(jobPaths(paths, job), name)) removeIfThere(path);
  await tell(request, app, written.entry, news);
  const log = jobPaths(paths, job).deployLog(name, id);
  const common = { app: name, job, id, version, status, log, duration_ms: ms };
  const end = { ...common, outcome: written.outcome, ...(reason !== undefined && { reason }) };
  return { end, next: written.next };
}

function outcomeOf({ reason, isInterrupted }: Attempted, run: RunningJob): JobOutcome {
  if (reason === undefined) return 'ok';
  if (!isInterrupted) return 'failed';
  return run.endedBy ? 'ended' : 'killed';
}

interface Told {
  readonly now: string;
  readonly done: Whole;
  /** An operator sees how it ends. */
  readonly isByHand: boolean;
}

function toldOf(
  entry: JobEntry,
  run: JobEntry['runs'][number],
  { now, done, isByHand }: Told,
): { readonly entry: JobEntry; readonly news: readonly JobNews[] } {
  const { name } = entry.rules;
  const more = { duration_ms: run.ms };
  if (run.outcome === 'ended' || (isByHand && run.outcome !== 'ok')) return { entry, news: [] };
  if (run.outcome !== 'ok') {
    const told = troubled(entry, 'failed', now);
    const reason = `job ${name}: ${run.reason}`;
    const facts = {
      ...more,
      error: done.error ?? reason,
      ...(done.cause && { cause: done.cause }),
    };
    const news = { event_type: 'JobFailed', reason, more: facts } as const;
    return { entry: told.entry, news: told.isNews ? [news] : [] };
  }
  const news: JobNews[] = [];
  if (entry.trouble) {
    const { since, kind } = entry.trouble;
    const what = kind === 'failed' ? 'had failed' : 'had been missed';
    news.push({ event_type: 'JobRecovered', reason: `job ${name} ${what} since ${since}`, more });
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
export function medianOf({ runs }: JobEntry): number | undefined {
  const good = runs.filter(({ outcome }) => outcome === 'ok').map(({ ms }) => ms);
  if (good.length < SLOW.of) return undefined;
  good.sort((a, b) => a - b);
  return good[Math.floor(good.length / 2)];
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
