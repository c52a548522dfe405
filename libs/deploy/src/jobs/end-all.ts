/** Ending the jobs of an app that is removed, or whose database is replaced. */
import { setTimeout as sleep } from 'node:timers/promises';
import { entriesAnyway } from '@runner/common/apps/job-book';
import { findApp } from '@runner/common/apps/store';
import { liveHolder } from '@runner/common/files/lock';
import type { Server } from '@runner/common/foundation/paths';
import { GRACE } from '../run/child.ts';
import { endWithVariable, JOB_RUN } from '../run/processes.ts';
import { endRun, isAlive } from './look.ts';

/** Between two looks, in ms. */
const POLL = 100;

/** Ends what runs of its jobs, also what a dead process left. */
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
