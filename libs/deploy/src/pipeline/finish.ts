/** What comes after a deploy, whichever way it went: hooks, old releases, old logs. */
import { statSync } from 'node:fs';
import { requireApp } from '@runner/common/apps/store';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { Failure } from '@runner/common/foundation/failure';
import { tidyMirror } from '../git/mirror-upkeep.ts';
import { runFailureHook, runHook } from '../instances/hooks.ts';
import { partsOf } from '../instances/job-target.ts';
import { stopRemoved } from '../instances/stop.ts';
import { causeOf, keepBaseline } from '../record/cause.ts';
import type { Job } from '../record/job.ts';
import { pruneReleases } from '../release/folder.ts';
import { sweep } from '../run/child.ts';
import { pruneLogs } from '../run/log.ts';
import { asStepFailure } from '../run/step.ts';
import { concludeFailure, type FailedDeploy, type Outcome } from './outcome.ts';

/** Concludes a failure, then runs the hook for it: what the hook does cannot hold up the record. */
export async function ended(
  job: Job,
  failed: Omit<FailedDeploy, 'cause'>,
  release: string | undefined,
): Promise<Outcome> {
  // What an interrupted deploy's finished steps left running goes too.
  if (failed.error.blame === 'operator') sweep(`RUNNER_DEPLOY_ID=${job.deployId}`);
  const outcome = concludeFailure(job, { ...failed, cause: await causeOf(job, failed.error) });
  if (failed.file) await runFailureHook(job, failed.file, release, outcome.error ?? '');
  tidy(job);
  return outcome;
}

/** What comes after a success and cannot undo it. */
export async function afterwards(job: Job, file: DeployFile, release: string): Promise<void> {
  for (const instance of file.instances) {
    try {
      await runHook(job, partsOf(job, file, instance, release), 'post_deploy');
    } catch (error) {
      job.reporter.note(`the deploy succeeded, but ${asStepFailure(error, 'hook').message}`);
    }
  }
  if (!job.partial) await stopRemoved(job, file);
  await keepBaseline(job);
  tidy(job);
  try {
    const why = await tidyMirror(job.io, job.paths.app(job.app.app).repo);
    if (why) job.reporter.note(`the mirror could not be tidied: ${why}`);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    job.reporter.note(`the mirror could not be tidied: ${error.message}`);
  }
}

/** Removes old releases and logs; that it fails is told and changes nothing. */
function tidy({ paths, app: { app }, log, reporter }: Job): void {
  try {
    pruneReleases(paths.app(app), requireApp(paths, app));
    pruneLogs(paths, app, (path) => statSync(path).mtimeMs, log.path);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    reporter.note(`old releases or logs could not be removed: ${why}`);
  }
}
