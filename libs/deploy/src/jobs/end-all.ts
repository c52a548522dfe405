/** Ending the jobs of an app that is removed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { readJobBook } from '@runner/common/apps/job-book';
import { liveHolder } from '@runner/common/files/lock';
import type { Paths } from '@runner/common/foundation/paths';
import { GRACE } from '../run/child.ts';
import { endWithVariable, JOB_RUN } from '../run/processes.ts';
import { endRun } from './look.ts';

/** Between two looks, in ms. */
const POLL = 100;

/** Ends what runs of its jobs, also what a dead process left. */
export async function endJobs(paths: Paths, app: string): Promise<void> {
  for (const [job, { run }] of Object.entries(readJobBook(paths, app)?.jobs ?? {})) {
    if (!run) continue;
    endRun(paths, app, job);
    const until = performance.now() + 2 * GRACE;
    while (liveHolder(paths.jobLock(app, job)) && performance.now() < until) await sleep(POLL);
    endWithVariable(JOB_RUN, run.id);
  }
}
