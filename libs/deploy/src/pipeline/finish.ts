/** The end of a deploy, either way: records, hooks, old releases, old logs. */
import { requireApp } from '@runner/common/apps/store';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { removeIfThere } from '@runner/common/files/read';
import { Failure } from '@runner/common/foundation/failure';
import { tidyMirror } from '../git/mirror-upkeep.ts';
import { runFailureHook, runHook } from '../instances/hooks.ts';
import type { Seen } from '../instances/probe.ts';
import { stopRemoved } from '../instances/stop.ts';
import { jobTarget, uninterrupted } from '../instances/target.ts';
import { leaving } from '../journal/after-success.ts';
import { causeOf, keepBaseline } from '../journal/cause.ts';
import type { Job } from '../journal/operation.ts';
import { pruneReleases, slotReleases } from '../release/folder.ts';
import { oldLogs } from '../run/log.ts';
import { endDeploy, releasesInUse } from '../run/processes.ts';
import { failureOf } from '../run/step.ts';
import {
  concludeFailure,
  concludeSuccess,
  type DeployOutcome,
  type FailedDeploy,
} from './outcome.ts';

/** Records the failure, then runs its hook: a slow hook cannot delay the record. */
export async function finishFailure(
  job: Job,
  failed: Omit<FailedDeploy, 'cause'>,
  release?: string,
): Promise<DeployOutcome> {
  const { error, file } = failed;
  endFailed(job, file, release);
  const outcome = concludeFailure(job, { ...failed, cause: await causeOf(job, error) });
  if (file) await runFailureHook(job, file, release, outcome.error ?? '');
  prune(job, { failed: release });
  return outcome;
}

/**
 * Ends what the failed release left running. Of `start.type: command` only what its build left: the
 * supervisor may have kept a process through the rollback.
 */
function endFailed(
  { paths, app, deployId }: Job,
  file: DeployFile | undefined,
  release: string | undefined,
): void {
  endDeploy(
    paths.app(app.app).dir,
    deployId,
    (name) =>
      name.startsWith('.tmp-') ||
      (name === release &&
        file?.start.type !== 'command' &&
        !slotReleases(requireApp(paths, app.app)).has(name)),
  );
}

/** Records the success, then does what comes after it and cannot undo it. */
export async function finishSuccess(
  job: Job,
  file: DeployFile,
  release: string,
  seen: Seen | undefined,
): Promise<DeployOutcome> {
  const outcome = concludeSuccess(job, file, release, seen);
  for (const instance of file.instances) {
    const failure = await failureOf('hook', async () =>
      runHook(job, jobTarget(job, file, instance, release), 'post_deploy'),
    );
    if (failure) job.reporter.note(`the deploy succeeded, but ${failure.message}`);
  }
  await stopRemoved(uninterrupted(job), job.app, leaving(job.app, job.instances, job));
  await keepBaseline(job);
  prune(job);
  await tidyMirrorAnyway(job);
  return outcome;
}

async function tidyMirrorAnyway({ io, paths, app, reporter }: Job): Promise<void> {
  try {
    const why = await tidyMirror(io, paths.app(app.app).repo);
    if (why) reporter.note(`the mirror could not be tidied: ${why}`);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    reporter.note(`the mirror could not be tidied: ${error.message}`);
  }
}

/**
 * Removes old releases and logs; if that fails, it is only noted. The newest failed release stays,
 * until a deploy succeeds or makes another one.
 */
function prune(job: Job, failure?: { readonly failed: string | undefined }): void {
  const { paths, log, reporter } = job;
  const { app, instances } = job.app;
  try {
    if (!failure || failure.failed !== undefined) {
      const appPaths = paths.app(app);
      // What ran until now may still answer its last requests, as another user too.
      const replaced = Object.values(instances).flatMap(({ current }) => current?.release ?? []);
      const now = requireApp(paths, app);
      const inUse = [...slotReleases(now), ...releasesInUse(appPaths.dir)];
      const stay = new Set([...replaced, ...inUse, failure?.failed ?? '']);
      const problems = pruneReleases(appPaths, now, stay);
      for (const problem of problems) reporter.note(problem);
    }
    for (const path of oldLogs(paths, app, log.path)) removeIfThere(path);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    reporter.note(`old releases or logs could not be removed: ${why}`);
  }
}
