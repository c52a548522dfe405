/**
 * A deploy from top to bottom: lock, recover, fetch the commit, free space, DeployStarted, release
 * (export, build), then switch, start and health for each instance, rollback on error, state,
 * DeploySuccess or DeployFailure, prune, unlock, and the chats last.
 */
import { newDeployId } from '@runner/common/audit/events';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { removeTree } from '@runner/common/files/tree-change';
import type { Contents } from '../git/contents.ts';
import type { GitSource } from '../git/source.ts';
import { activate } from '../instances/activate.ts';
import { drainAll } from '../instances/drain.ts';
import { seenWords } from '../instances/probe.ts';
import { rollBackSwitched } from '../instances/roll-back.ts';
import { interruptible } from '../instances/target.ts';
import { markFailed } from '../journal/mark.ts';
import { lockApp } from '../journal/lock.ts';
import type { Job } from '../journal/operation.ts';
import { checkSpace } from '../release/folder.ts';
import { makeRelease, type Release } from '../release/make.ts';
import { reasoned } from '../release/reason.ts';
import { takeBack } from '../release/shared.ts';
import { asStepFailure, StepFailure } from '../run/step.ts';
import { announceOver } from '../watch/over.ts';
import { type DeployRequest, fetchCommit, openApp, openJob, recordStart } from './begin.ts';
import { deployInLog } from './ended.ts';
import { finishFailure, finishSuccess } from './finish.ts';
import type { DeployOutcome } from './outcome.ts';

/**
 * Deploys an app. Resolves with the outcome, also of a failed deploy; throws a Failure if the deploy
 * did not begin (unknown app, ref or instance, lock, network, token, disk, audit log).
 */
export async function deploy(request: DeployRequest): Promise<DeployOutcome> {
  const { io, paths } = request;
  const deployId = request.deployId ?? newDeployId(io.random);
  const ended = deployInLog(paths, request.app, request.deployId);
  if (ended) return ended;
  const note = (text: string) => request.reporter.note(text);
  const lock = await lockApp({ ...request, note }, 'deploy', request.trigger, deployId);
  let job: Job | undefined;
  try {
    const { source, operation } = await openApp(request);
    const endedMeanwhile = deployInLog(paths, request.app, request.deployId);
    if (endedMeanwhile) return endedMeanwhile;
    const began = io.elapsed();
    const fetched = await fetchCommit(source, operation, request);
    checkSpace(paths.app(operation.app.app));
    job = openJob(operation, fetched, request, { deployId, began });
    recordStart(job, fetched, request.notify);
    return await runDeploy(job, source, fetched.contents);
  } finally {
    lock.release();
    // After the lock is released: a drain may be cut short by a rollback, a slow chat delays no one.
    if (job) await drainAll(interruptible(job), job.reporter);
    job?.sandbox.close(removeTree);
    job?.log.close();
    for (const line of (await job?.notifier.finish()) ?? []) request.reporter.note(line);
    await announceOver(request, 'deploy');
  }
}

/** Makes the release and brings it to its instances. */
async function runDeploy(
  job: Job,
  source: GitSource,
  contents: Contents | StepFailure,
): Promise<DeployOutcome> {
  if (contents instanceof StepFailure) return failEarly(job, contents, undefined);
  const { file } = contents;
  let release: Release;
  try {
    release = await makeRelease(job, source, contents);
  } catch (error) {
    return failEarly(job, asStepFailure(error, job.stages.now), file);
  }
  const { name, seeds } = release;
  const activation = await activate(job, file, name);
  const { switched, failure, seen } = activation;
  if (seen) job.reporter.note(seenWords(seen));
  if (!failure) return finishSuccess(job, file, name, seen);
  const folder = job.paths.app(job.app.app).release(name);
  const error = reasoned(failure.error, folder, job.deployId);
  logHeadline(job, error);
  if (switched.length > 0) {
    markFailed(job, error, job.redact(error.message));
    job.stages.enter('rollback');
  }
  const moves = await rollBackSwitched(job, file, name, activation);
  // What could not be stopped may still use them.
  if (moves.every(({ problem }) => problem === undefined)) takeBack(seeds);
  return finishFailure(job, { error, at: failure.instance.name, moves, file, seen }, name);
}

/** A failure before anything was switched. */
function failEarly(
  job: Job,
  error: StepFailure,
  file: DeployFile | undefined,
): Promise<DeployOutcome> {
  logHeadline(job, error);
  return finishFailure(job, { error, at: undefined, moves: [], file, seen: undefined });
}

/** The log names the failure before the rollback is logged: `debug log` looks for the cause above. */
function logHeadline({ log }: Job, { message, ended: step }: StepFailure): void {
  // The headline of a program that failed is in the log already.
  if (!step) log.line(message);
}
