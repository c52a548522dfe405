/** One run of a job in the active release, from its lock to the records of its end. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type JobOutcome, readJobBook } from '@runner/common/apps/job-book';
import { findApp } from '@runner/common/apps/store';
import { newDeployId } from '@runner/common/audit/events';
import { takeLock } from '@runner/common/files/lock';
import { removeIfThere } from '@runner/common/files/read';
import { announcerOf } from '../alerts/announce.ts';
import { oldLogs } from '../run/log.ts';
import { attemptJob, type JobRequest, jobPaths } from './attempt.ts';
import { changeJobBook } from './book.ts';
import { endClaim } from './claims.ts';
import { isHeldUp, startRun } from './look.ts';
import { withRun } from './settle.ts';
import { changeOf, type EndedAttempts, outcomeOf, toldOf } from './tell.ts';

/** Before a run that failed is tried once more, in ms. */
const RETRY_PAUSE = 10_000;
/** Seconds until the process that it follows has let the lock go. */
const LOCK_WAIT = 15;

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

/**
 * Carries a run that was begun, or that `begin` does, and those that waited for it. undefined if another
 * process does.
 */
export async function carryRun(
  request: JobRequest,
  id: string,
  begin?: () => Promise<void>,
): Promise<JobEnd | undefined> {
  const { io, paths, app, job } = request;
  const holder = { pid: io.pid, command: 'job', id, since: io.now().toISOString() };
  using lock = takeLock(paths.jobLock(app, job), LOCK_WAIT, holder);
  if (!lock) return undefined;
  const own = { ...request, opened: {} };
  await begin?.();
  let first: JobEnd | undefined;
  for (let next: string | undefined = id; next !== undefined; ) {
    lock.note({ id: next });
    const done: EndedJob | undefined = await runOnce(own, next);
    first ??= done?.end;
    next = done?.next;
    if (!request.signal.aborted) continue;
    // This process is to end: another one takes the lock.
    if (next !== undefined) startRun({ io, paths }, app, job, next);
    break;
  }
  return first;
}

interface EndedJob {
  readonly end: JobEnd;
  readonly next: string | undefined;
}

async function runOnce(request: JobRequest, id: string): Promise<EndedJob | undefined> {
  const { io, paths, app: name, job, signal } = request;
  const entry = findApp(paths, name) && readJobBook(paths, name)?.jobs[job];
  if (!entry || entry.run?.id !== id) return undefined;
  const began = io.elapsed();
  const noted = (version: string) =>
    changeJobBook(request, name, ({ jobs }) => {
      const now = jobs[job];
      if (now?.run) jobs[job] = { ...now, run: { ...now.run, version } };
    });
  let done = await attemptJob(request, entry, id, noted);
  let attempts = 1;
  while (
    done.reason !== undefined &&
    !done.isGone &&
    attempts <= entry.rules.retry &&
    !signal.aborted
  ) {
    await sleep(RETRY_PAUSE, undefined, { signal }).catch(() => {});
    if (signal.aborted) {
      // It still had attempts.
      done = { ...done, isInterrupted: true };
      break;
    }
    attempts += 1;
    done = await attemptJob(request, entry, id, noted);
  }
  return finish(request, id, { ...done, attempts, ms: Math.round(io.elapsed() - began) });
}

async function finish(
  request: JobRequest,
  id: string,
  done: EndedAttempts,
): Promise<EndedJob | undefined> {
  const { io, paths, app: name, job } = request;
  const { reason, ms, attempts, version, status } = done;
  const now = io.now().toISOString();
  if (!findApp(paths, name)) return undefined;
  const announcer = announcerOf(request);
  const written = changeJobBook(request, name, ({ jobs }, app) => {
    const entry = jobs[job];
    const { run } = entry ?? {};
    if (!entry || run?.id !== id) return undefined;
    const outcome = outcomeOf(done, run);
    const { endedBy: _, ...rest } = run;
    const more = { ...(attempts > 1 && { attempts }), ...(reason !== undefined && { reason }) };
    const over = { ...rest, version, ms, outcome, ...more };
    const isByHand = run.due === null && !run.endedBy;
    const told = toldOf({ ...entry, run: null }, over, { now, done, isByHand });
    for (const each of told.news) announcer.announce(changeOf(app, told.entry, each));
    const isLeft =
      run.endedBy === 'deploy' ||
      (!run.endedBy && request.signal.aborted) ||
      // The deploy that waited for this run looks for the next one at its end.
      isHeldUp(paths, app, entry.rules);
    // The next look asks which server has the next time.
    const waits = entry.waiting !== null && !isLeft && entry.rules.on !== 'one';
    const next = waits ? newDeployId(io.random) : undefined;
    const started = { due: entry.waiting, at: now, version: null };
    jobs[job] = {
      ...withRun(told.entry, over),
      ...(next !== undefined && { run: { id: next, ...started }, waiting: null }),
    };
    return { outcome, next, rules: entry.rules };
  });
  if (!written) return undefined;
  endClaim({ io, paths }, name, { rules: written.rules, id });
  for (const path of oldLogs(jobPaths(paths, job), name)) removeIfThere(path);
  await announcer.finish();
  const log = jobPaths(paths, job).deployLog(name, id);
  const common = { app: name, job, id, version, status, log, duration_ms: ms };
  const end = { ...common, outcome: written.outcome, ...(reason !== undefined && { reason }) };
  return { end, next: written.next };
}
