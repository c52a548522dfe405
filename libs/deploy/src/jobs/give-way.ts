/** Jobs that a deploy waits for, or ends, before it switches, and that a restore or removal ends. */
import { setTimeout as sleep } from 'node:timers/promises';
import { entriesAnyway, type JobEntry } from '@runner/common/apps/job-book';
import { findApp } from '@runner/common/apps/store';
import { liveHolder } from '@runner/common/files/lock';
import { orElse } from '@runner/common/foundation/attempt';
import type { Server } from '@runner/common/foundation/paths';
import { durationText } from '@runner/common/text/time';
import type { Operation } from '../journal/operation.ts';
import type { Step } from '../journal/step.ts';
import { GRACE } from '../run/child.ts';
import { endWithVariable, JOB_RUN } from '../run/processes.ts';
import { refuseInterrupted, StepFailure } from '../run/step.ts';
import { changeJobBook, hasJobs } from './book.ts';
import { endRun, isAlive } from './look.ts';

/** Between two looks at a run, in ms. */
const POLL = 200;
/** Longest time until a run that is ended has written its end, in ms. */
const END = GRACE + 10_000;

/** Before a release is left: its jobs that want it end first. What a watch calls bad is left without waiting for them. */
export function givingWay(op: Operation): Step[] {
  const { io, paths, app } = op;
  const waits = op.trigger !== 'watch';
  // Under its lock: a look that knows of no deploy may be about to write the run that it begins.
  const locked = () => changeJobBook(op, app.app, (book) => book.jobs);
  const known = entriesAnyway(paths, app.app);
  const has = Object.keys(known).length > 0 || hasJobs(app, undefined);
  const jobs = Object.entries(has ? orElse(locked, known) : known);
  // Those that are ended come first: they have the time of the others.
  jobs.sort(
    ([, a], [, b]) =>
      Number(b.rules.duringDeploy === 'kill') - Number(a.rules.duringDeploy === 'kill'),
  );
  return jobs.flatMap(([job, { run, rules }]) => {
    const { duringDeploy, timeout, retry } = rules;
    if (!run || duringDeploy === 'continue') return [];
    if (!isAlive(paths, app.app, job, { run, now: io.now() })) return [];
    const isEnded = duringDeploy === 'kill';
    if (!isEnded && !waits) return [];
    // An attempt that runs out of time has to end, and the next one begins after a pause.
    const most = isEnded ? END : (timeout + END) * (retry + 1);
    const title = isEnded ? `end job ${job}` : `wait for job ${job}, at most ${durationText(most)}`;
    return {
      stage: 'release' as const,
      isBrief: true,
      title,
      async run() {
        if (isEnded) endForDeploy(op, job, run);
        if (waits) await untilOver(op, job, run, { most, isEnded });
      },
    };
  });
}

/** It runs once more after the deploy. */
function endForDeploy(op: Operation, job: string, { id }: NonNullable<JobEntry['run']>): void {
  const { io, paths, app } = op;
  changeJobBook(op, app.app, ({ jobs }) => {
    const entry = jobs[job];
    if (entry?.run?.id !== id) return;
    const waiting = entry.waiting ?? entry.run.due ?? io.now().toISOString();
    jobs[job] = { ...entry, waiting, run: { ...entry.run, endedBy: 'deploy' } };
  });
  endRun(paths, app.app, job);
}

async function untilOver(
  { io, paths, app, signal }: Operation,
  job: string,
  { id }: NonNullable<JobEntry['run']>,
  { most, isEnded }: { readonly most: number; readonly isEnded: boolean },
): Promise<void> {
  const until = io.elapsed() + most;
  const goesOn = () => {
    const run = entriesAnyway(paths, app.app)[job]?.run;
    return run?.id === id && isAlive(paths, app.app, job, { run, now: io.now() });
  };
  while (goesOn()) {
    refuseInterrupted(signal, 'release');
    if (io.elapsed() >= until)
      throw new StepFailure('release', `release: job ${job} does not end`, { blame: 'server' });
    // What is starting has taken no signal yet.
    if (isEnded) endRun(paths, app.app, job);
    await sleep(POLL);
  }
}

/** Ends what runs of the jobs of an app, whose database is replaced, or that is removed; also what a dead process left. */
export async function endJobs({ io, paths }: Server, app: string): Promise<void> {
  for (const [job, { run }] of Object.entries(entriesAnyway(paths, app))) {
    if (!run) continue;
    const goesOn = () => {
      // What is starting finds no app, and ends.
      if (!findApp(paths, app)) return liveHolder(paths.jobLock(app, job)) !== undefined;
      const isIts = entriesAnyway(paths, app)[job]?.run?.id === run.id;
      return isIts && isAlive(paths, app, job, { run, now: io.now() });
    };
    const until = io.elapsed() + 2 * GRACE;
    while (goesOn() && io.elapsed() < until) {
      // Again and again: what is starting takes no signal yet.
      endRun(paths, app, job);
      await sleep(POLL);
    }
    endWithVariable(JOB_RUN, run.id);
  }
}
