/** Looking for jobs that are due: a timer does each minute, and each `fetch`. Nothing stays running. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isPast, type JobBook, type JobEntry, readJobBook } from '@runner/common/apps/job-book';
import type { AppState } from '@runner/common/apps/state';
import { findApp } from '@runner/common/apps/store';
import { newDeployId } from '@runner/common/audit/events';
import { liveHolder } from '@runner/common/files/lock';
import { onFailure } from '@runner/common/foundation/attempt';
import type { Paths, Server } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import { type Announcing, announcerOf } from '../alerts/announce.ts';
import { startInBackground } from '../run/background.ts';
import { endWithVariable, JOB_RUN } from '../run/processes.ts';
import { activeReleases, changeJobBook, hasJobs } from './book.ts';
import { claimsOf, endClaim } from './claims.ts';
import { COUNT_MAX, type MissedTimes, type SettledJob, settle } from './settle.ts';
import { changeOf, type JobNews, ofVersion, type ToldJob, troubled, troubleWords } from './tell.ts';

/** Between two looks at runs that have just begun, in ms. */
const POLL = 50;
/** Longest time in ms until the process of a run holds its lock. */
const STARTING = 20_000;

/** Runs of an app that begin at the same time: were all to, a busy machine would start the last too late. */
const AT_ONCE = 8;
/** After this time in ms the next look goes on with what is due. */
const LOOKING = 60_000;

/** Begins what is due of an app, and announces what was missed or killed. Throws `locked`, `not_writable`, … */
export async function lookForJobs(announcing: Announcing, name: string): Promise<void> {
  const until = performance.now() + LOOKING;
  while ((await beginSome(announcing, name)) === AT_ONCE && performance.now() < until);
}

/** Returns how many have begun; what is due beyond `AT_ONCE` waits. */
async function beginSome(announcing: Announcing, name: string): Promise<number> {
  const { io, paths } = announcing;
  const app = findApp(paths, name);
  const isActive = Object.values(app?.instances ?? {}).some(({ current }) => current);
  const book = readJobBook(paths, name);
  if (!app || !isActive || !hasJobs(app, book)) return 0;
  if (book?.of === activeReleases(app) && !isDue(announcing, app, book)) return 0;
  const announcer = announcerOf(announcing);
  const done = changeJobBook(announcing, name, (jobs, now) => {
    const all = settleAll(announcing, now, jobs);
    // Recorded before the book knows of it: after a kill it is announced once more rather than never.
    for (const [, { entry, news }] of all)
      for (const each of news) announcer.announce(changeOf(now, entry, each));
    return all;
  });
  const begun: string[] = [];
  for (const [job, { entry, starts, ends, killed }] of done) {
    if (killed) endClaim({ io, paths }, name, { rules: entry.rules, id: killed.id });
    if (ends) endRun(paths, name, job);
    if (!starts || !entry.run) continue;
    if (startRun({ io, paths }, name, job, entry.run.id)) begun.push(job);
  }
  // A service takes the key away when it ends.
  await untilOpened(paths, name, begun);
  await announcer.finish();
  return begun.length;
}

/** Until the processes of runs that have just begun have read their secrets, or have ended. */
async function untilOpened(paths: Paths, app: string, jobs: readonly string[]): Promise<void> {
  const until = performance.now() + STARTING;
  const isOpening = (job: string) => readJobBook(paths, app)?.jobs[job]?.run?.version === null;
  while (jobs.some(isOpening) && performance.now() < until) await sleep(POLL);
}

/** The same for several; the trouble of one is noted, and does not stop the others. */
export async function lookForAllJobs(
  announcing: Announcing,
  names: readonly string[],
): Promise<boolean> {
  let isFine = true;
  for (const name of names) {
    const noted = onFailure(({ message, code }) => {
      isFine = false;
      announcing.reporter.note(`jobs of ${name}: ${message} (${code})`);
    });
    await lookForJobs(announcing, name).catch(noted);
  }
  return isFine;
}

function isDue({ io, paths }: Server, app: AppState, book: JobBook): boolean {
  const now = io.now();
  return Object.entries(book.jobs).some(
    ([job, { next, run, waiting, settled, gone, trouble }]) =>
      (next !== null && next <= now.toISOString()) ||
      waiting !== null ||
      (settled > now.toISOString() && !gone) ||
      (gone && trouble && !run) ||
      (run && !isAlive(paths, app.app, job, { run, now })),
  );
}

/** Whether the process of a run is at work, or may still be starting: an operator's holds the lock before. */
export function isAlive(
  paths: Paths,
  app: string,
  job: string,
  { run, now }: { readonly run: NonNullable<JobEntry['run']>; readonly now: Date },
): boolean {
  const holder = liveHolder(paths.jobLock(app, job));
  if (holder?.id === run.id) return true;
  const isStarting = run.due !== null && run.version === null;
  return isStarting && Math.abs(now.getTime() - Date.parse(run.at)) < STARTING;
}

/** The jobs of an app that run now. */
export function liveRuns({ io, paths }: Server, app: string): string[] {
  const jobs = Object.entries(readJobBook(paths, app)?.jobs ?? {});
  const now = io.now();
  return jobs.flatMap(([job, { run }]) =>
    run && isAlive(paths, app, job, { run, now }) ? [job] : [],
  );
}

/** Whether a run has to wait: for a deploy, or another command, that changes the app. */
export function isHeldUp(
  paths: Paths,
  { app, deploying, migrating }: AppState,
  { duringDeploy }: JobEntry['rules'],
): boolean {
  // A restore that was killed leaves the database half way.
  if (deploying?.rests_jobs || migrating?.backup !== undefined) return true;
  if (!deploying) return false;
  return duringDeploy !== 'continue' && liveHolder(paths.lock(app)) !== undefined;
}

function settleAll({ io, paths }: Server, app: AppState, book: JobBook) {
  const now = io.now();
  const claim = claimsOf({ io, paths }, app.app);
  let starting = 0;
  return Object.entries(book.jobs).map(([job, before]) => {
    const { run, instance } = before;
    const settled = settle(before, {
      now,
      newId: () => newDeployId(io.random),
      claim,
      isAlive: run !== null && isAlive(paths, app.app, job, { run, now }),
      isStopped: app.stopped?.instances.includes(instance) ?? false,
      isHeldUp: starting === AT_ONCE || isHeldUp(paths, app, before.rules),
    });
    if (settled.starts) starting += 1;
    const told = newsOf(app, before, settled, now.toISOString());
    book.jobs[job] = told.entry;
    return [job, { ...settled, ...told }] as const;
  });
}

function newsOf(
  { app, instances }: AppState,
  before: JobEntry,
  settled: SettledJob,
  now: string,
): ToldJob {
  const { missed, killed } = settled;
  const job = before.rules.name;
  const news: JobNews[] = [];
  let { entry } = settled;
  const { elsewhere, trouble } = entry;
  if (trouble && elsewhere && elsewhere.due !== before.elsewhere?.due) {
    // What becomes of it is for that server to say.
    entry = { ...entry, trouble: null };
    const reason = `job ${job} ${troubleWords(trouble)}: ${elsewhere.server} runs it now`;
    news.push({ event_type: 'JobRecovered', reason });
  }
  if (killed) {
    const told = newsOfKilled(entry, killed, now);
    entry = told.entry;
    news.push(...told.news);
  }
  if (missed) {
    const run = `run it now: runner jobs run ${word(app)} ${word(job)}`;
    const reason = `job ${job} was due ${missedWords(missed)}; ${run}`;
    const event = { event_type: 'JobMissed', reason } as const;
    const told = troubled(entry, 'missed', missed.first, event);
    entry = told.entry;
    news.push(...(missed.why === undefined ? [event] : told.news));
  }
  if (isPast(entry) && entry.trouble) {
    // It has no further run that could succeed.
    const version = instances[entry.instance]?.current?.version;
    const reason = `job ${job} ${troubleWords(entry.trouble)}: ${version ?? app} has no such job`;
    entry = { ...entry, trouble: null };
    news.push({ event_type: 'JobRecovered', reason });
  }
  return { entry, news };
}

/** Ends what a killed run had started. One that an operator began is not news. */
export function newsOfKilled(
  entry: JobEntry,
  killed: NonNullable<SettledJob['killed']>,
  now: string,
): ToldJob {
  endWithVariable(JOB_RUN, killed.id);
  if (killed.due === null) return { entry, news: [] };
  const reason = `job ${entry.rules.name}: the process that ran it was killed`;
  const more = { error: reason, ...ofVersion(killed) };
  return troubled(entry, 'failed', now, { event_type: 'JobFailed', reason, more });
}

function missedWords({ first, last, count, why }: MissedTimes): string {
  const many = `${count < COUNT_MAX ? '' : 'at least '}${count}`;
  const when = count === 1 ? first : `${many} times from ${first} to ${last}`;
  return `${when}, and ${why === undefined ? 'the server did not look then' : `the broker was not asked which server runs it: ${why}`}`;
}

/** Asks the process of a run to end it. */
export function endRun(paths: Paths, app: string, job: string): void {
  const holder = liveHolder(paths.jobLock(app, job));
  try {
    if (holder) process.kill(holder.pid, 'SIGTERM');
  } catch {
    // It has just ended.
  }
}

/** Returns whether its process was started. */
export function startRun(server: Server, app: string, job: string, id: string): boolean {
  return startInBackground(server, 'runner-jobs', ['run', app, job, '--carry', id]);
}
