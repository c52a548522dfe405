/** Changing what is known of the jobs of an app: the rules are always those of what is active. */

import type { Deployed } from '@runner/common/apps/deployed';
import {
  isPast,
  type JobBook,
  type JobEntry,
  presentJobs,
  readJobBook,
  writeViewOfJobs,
} from '@runner/common/apps/job-book';
import type { AppState } from '@runner/common/apps/state';
import { findApp, requireApp } from '@runner/common/apps/store';
import type { JobRules } from '@runner/common/deploy-file/jobs';
import { nextDue } from '@runner/common/deploy-file/schedule';
import { holderFor, requireLock } from '@runner/common/files/lock';
import { writeWhole } from '@runner/common/files/write';
import { Failure } from '@runner/common/foundation/failure';
import type { Server } from '@runner/common/foundation/paths';
import { choiceOf } from '@runner/common/text/nearest';
import { fileOfRelease } from '../instances/kept-file.ts';

/** Seconds to wait for another process that changes the book: each takes milliseconds. */
const WAIT = 10;
/** Found later than this, in ms, a time is missed. */
export const LATE = 300_000;
/** Runs of a job that are remembered. */
export const RUNS_MAX = 20;

/** Jobs that no active release has and that are remembered; the newest ones. */
const GONE_MAX = 50;

/** Whether an app has jobs, or had some. */
export function hasJobs({ instances }: AppState, book: JobBook | undefined): boolean {
  return book !== undefined || Object.values(instances).some(({ current }) => current?.jobs);
}

/** Which releases are active: their rules count. */
export function activeReleases({ instances }: AppState): string {
  const all = Object.entries(instances).map(([name, { current }]) => `${name}=${current?.release}`);
  return all.join(' ');
}

/** Runs `change` on the book, with the rules of today, and writes it. Throws `locked`, `app_not_found`. */
export function changeJobBook<T>(
  server: Server,
  name: string,
  change: (book: JobBook, app: AppState) => T,
): T {
  const { io, paths } = server;
  using _lock = requireLock(paths.jobBookLock(name), 'the jobs', WAIT, holderFor(io, 'jobs'));
  // What is active may have changed since the caller looked.
  const app = requireApp(paths, name);
  const before = readJobBook(paths, name);
  const book = refreshed(server, app, before ?? { of: '', jobs: {} });
  const result = change(book, app);
  const text = `${JSON.stringify(book)}\n`;
  if (!before || text !== `${JSON.stringify(before)}\n`) {
    writeWhole(paths.app(name).jobs, text, 0o640);
    writeViewOfJobs(paths, name, book);
  }
  return result;
}

/** After what is active has changed: the schedule changes with the release. */
export function keepJobs(server: Server, name: string): void {
  const app = findApp(server.paths, name);
  const book = readJobBook(server.paths, name);
  if (!app || !hasJobs(app, book) || book?.of === activeReleases(app)) return;
  changeJobBook(server, name, () => {});
}

/** A copy, with the rules of the active releases. */
function refreshed(server: Server, app: AppState, book: JobBook): JobBook {
  const of = activeReleases(app);
  const copy = structuredClone(book);
  if (book.of === of) return copy;
  const jobs: JobBook['jobs'] = {};
  for (const job of activeJobs(server, app)) {
    const { name } = job.rules;
    // A name may be one that every object has: toString.
    if (!Object.hasOwn(jobs, name)) jobs[name] = entryFor(server, job, copy);
  }
  // Their runs can still be read, and a rollback brings them back.
  const gone = Object.entries(copy.jobs).filter(([name]) => !Object.hasOwn(jobs, name));
  const kept = gone.filter(([, entry], at) => at < GONE_MAX || entry.run || entry.trouble);
  for (const [name, entry] of kept)
    jobs[name] = { ...entry, next: null, waiting: null, gone: true };
  return { of, jobs };
}

interface ActiveJob {
  readonly rules: JobRules;
  readonly instance: string;
  readonly current: Deployed;
}

/** The jobs of the active releases; one that two releases have is of the first. */
function activeJobs({ paths }: Server, app: AppState): ActiveJob[] {
  return Object.entries(app.instances).flatMap(([instance, { current }]) => {
    const file = current && fileOfRelease(paths, app.app, current);
    const first = file?.instances[0]?.name;
    const own = file?.jobs.filter((job) => (job.instance ?? first) === instance) ?? [];
    return current ? own.map((rules) => ({ rules, instance, current })) : [];
  });
}

function entryFor({ io }: Server, { current, ...job }: ActiveJob, { of, jobs }: JobBook): JobEntry {
  const before = Object.hasOwn(jobs, job.rules.name) ? jobs[job.rules.name] : undefined;
  const fresh: JobEntry = {
    ...job,
    settled: io.now().toISOString(),
    next: null,
    run: null,
    waiting: null,
    paused: null,
    trouble: null,
    slow: false,
    runs: [],
  };
  // After a restore its times count from now on, too.
  const isSame =
    of !== '' && JSON.stringify(before?.rules.schedule) === JSON.stringify(job.rules.schedule);
  const { gone, ...known } = before ?? fresh;
  const entry = { ...known, ...job, ...((!isSame || gone) && { settled: fresh.settled }) };
  if (job.rules.schedule.kind !== 'deploy') {
    // A time of the schedule before that no look has found yet has its run.
    const age = Date.parse(fresh.settled) - Date.parse(entry.next ?? '');
    const isLeft = of !== '' && !isSame && !gone && age >= 0 && age <= LATE;
    return dated(isLeft ? { ...entry, waiting: entry.waiting ?? entry.next } : entry);
  }
  // Due once for each deploy, not for the way back to an older one.
  if (isSame && before && !isNewer(current, job.instance, before)) return entry;
  const { deploy_id, sequence = 0, deployed_at: at } = current;
  return { ...entry, settled: at, waiting: at, deploy: { deploy_id, sequence } };
}

/** Whether a job after deploys was not yet due for this one, whatever the clock did. */
function isNewer(
  { deploy_id: id, sequence = 0, deployed_at: at }: Deployed,
  instance: string,
  { instance: before, deploy, settled }: JobEntry,
): boolean {
  // Each instance counts for itself.
  if (!deploy || before !== instance) return at > settled;
  return id !== deploy.deploy_id && sequence >= (deploy.sequence ?? 0);
}

/** With the time at which it is due next. */
export function dated(entry: JobEntry): JobEntry {
  const { rules, settled } = entry;
  return { ...entry, next: nextDue(rules.schedule, new Date(settled))?.toISOString() ?? null };
}

/** The entry of a job. Throws `app_not_found`, `job_not_found`. */
export function requireJob({ io, paths }: Server, name: string, job: string): JobEntry {
  const app = requireApp(paths, name);
  const jobs = hasJobs(app, readJobBook(paths, name))
    ? changeJobBook({ io, paths }, name, (book) => book.jobs)
    : {};
  const entry = Object.hasOwn(jobs, job) ? jobs[job] : undefined;
  if (entry && !isPast(entry)) return entry;
  const known = presentJobs({ of: '', jobs }).map(([each]) => each);
  const has = known.length === 0 ? '; it has none' : choiceOf('it has', job, known);
  throw new Failure('job_not_found', `'${name}' has no job '${job.slice(0, 80)}'${has}`);
}
