/** A deploy from top to bottom. Everything that touches the running version is below `activate`. */

import { statSync } from 'node:fs';
import { type Deployed, requireApp } from '@runner/common/apps';
import { appendEvent, appendKept } from '@runner/common/audit';
import { DEPLOY_FILE, type DeployFile, readDeployFile } from '@runner/common/deploy-file';
import { newDeployId } from '@runner/common/events';
import { configExposure } from '@runner/common/exposure';
import { Failure } from '@runner/common/failure';
import type { Io } from '@runner/common/io';
import { requireLock } from '@runner/common/lock';
import type { Paths } from '@runner/common/paths';
import { changeApp } from '@runner/common/registry';
import { causeOf, keepBaseline } from './cause.ts';
import { sweep } from './child.ts';
import { openDeployLog, pruneLogs } from './deploy-log.ts';
import { bootId } from './drivers/process.ts';
import { runFailureHook, runHook } from './hooks.ts';
import { fileOfRelease } from './instance-target.ts';
import { activate, rollBack } from './instances.ts';
import { eventOf, type Job } from './job.ts';
import { partsOf, previousOfAll } from './job-target.ts';
import { makeRelease } from './making.ts';
import { silent, startNotifier } from './notifier.ts';
import { fetchHead, sourceOf } from './origin.ts';
import { concludeFailure, concludeSuccess, type FailedDeploy, type Outcome } from './outcome.ts';
import { recover } from './recovery.ts';
import { checkSpace, pruneReleases } from './release.ts';
import { fileAt } from './remote.ts';
import { type Reporter, redacting, reported } from './reporter.ts';
import type { Source } from './source.ts';
import { asStepFailure, StepFailure } from './step.ts';
import { stopRemoved } from './stopping.ts';

export interface DeployRequest {
  readonly io: Io;
  readonly paths: Paths;
  readonly app: string;
  readonly trigger: string;
  readonly notify: boolean;
  readonly reporter: Reporter;
  readonly signal: AbortSignal;
}

/**
 * Deploys the head of an app's branch. Resolves with the outcome, a failed deploy included; throws
 * a Failure when nothing was begun (unknown app, lock, network, token, disk, audit log).
 */
export async function deploy(request: DeployRequest): Promise<Outcome> {
  const { io, paths, signal } = request;
  const known = requireApp(paths, request.app);
  const deployId = newDeployId(io.random);
  const holder = {
    pid: io.pid,
    command: 'deploy',
    deploy_id: deployId,
    since: io.now().toISOString(),
  };
  const lock = requireLock(paths.lock(known.app), `'${known.app}'`, 0, holder);
  let job: Job | undefined;
  try {
    const { source, redact } = sourceOf(request, requireApp(paths, request.app));
    const reporter = redacting(request.reporter, redact);
    appendKeptIfPossible(paths, reporter);
    const exposed = configExposure(paths);
    if (exposed) reporter.note(exposed);
    const app = await recover({ io, paths, reporter, redact }, requireApp(paths, request.app));
    const began = io.elapsed();
    const { commit, version } = await reported(
      reporter,
      `fetch ${source.branch} of ${source.repo}`,
      () => fetchHead(source),
    );
    checkSpace(paths.app(app.app));
    const log = openDeployLog(paths, app.app, deployId, redact, reporter.output);
    const { trigger } = request;
    job = {
      io,
      paths,
      app,
      deployId,
      commit,
      version,
      trigger,
      signal,
      log,
      redact,
      reporter,
      began,
      notifier: silent,
      stage: 'config',
    };
    return await run(job, source, request.notify);
  } finally {
    lock.release();
    job?.log.close();
    // After the lock is free: a slow chat holds up nobody.
    for (const line of (await job?.notifier.finish()) ?? []) request.reporter.note(line);
  }
}

function appendKeptIfPossible(paths: Paths, reporter: Reporter): void {
  try {
    appendKept(paths);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    reporter.note(`${error.message} (${error.code})`);
  }
}

/** What the commit says about its deploy, or why that cannot be read. */
async function fileOf(job: Job, source: Source): Promise<DeployFile | StepFailure> {
  try {
    return readDeployFile(await fileAt(source, job.commit, DEPLOY_FILE));
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'deploy_file_invalid') throw error;
    return new StepFailure('config', `config: ${error.message}`, '');
  }
}

async function run(job: Job, source: Source, notify: boolean): Promise<Outcome> {
  const { paths, io } = job;
  const file = await fileOf(job, source);
  const instance = instanceNames(job, file);
  begin(job, instance);
  if (notify) job.notifier = startNotifier(io, paths.root, channelChoice(job, file));
  const previous = previousOfAll(job.app, instance.split(','))?.version;
  const fields = { instance, ...(previous !== undefined && { previous_version: previous }) };
  const startedEvent = eventOf(job, 'DeployStarted', fields);
  try {
    appendEvent(paths, startedEvent);
  } catch (error) {
    // No record, no deploy.
    changeApp(paths, io, 'deploy', job.app.app, (app) => ({ ...app, deploying: null }));
    throw error;
  }
  job.notifier.tell(startedEvent);
  if (file instanceof StepFailure)
    return ended(job, { error: file, instance, ways: [], file: undefined }, undefined);
  let release: string;
  try {
    release = await makeRelease(job, source, file);
  } catch (error) {
    return ended(
      job,
      { error: asStepFailure(error, job.stage), instance, ways: [], file },
      undefined,
    );
  }
  const { switched, failure } = await activate(job, file, release);
  if (failure) {
    const ways = await rollBack(job, file, release, switched);
    return ended(
      job,
      { error: failure.error, instance: failure.instance.name, ways, file },
      release,
    );
  }
  const outcome = concludeSuccess(job, file, release);
  await afterwards(job, file, release);
  return outcome;
}

/** Concludes a failure, then runs the hook for it: what the hook does cannot hold up the record. */
async function ended(
  job: Job,
  failed: Omit<FailedDeploy, 'cause'>,
  release: string | undefined,
): Promise<Outcome> {
  // What an interrupted deploy's finished steps left running goes too.
  if (failed.error.blame === 'operator') sweep(`RUNNER_DEPLOY_ID=${job.deployId}`);
  const outcome = concludeFailure(job, { ...failed, cause: await causeOf(job, failed.error) });
  if (failed.file) await runFailureHook(job, failed.file, release, outcome.error ?? '');
  tidy(job, job.paths, job.app.app);
  return outcome;
}

/** The instances' names: of the file, else of what was deployed before. */
function instanceNames(job: Job, file: DeployFile | StepFailure): string {
  const names =
    file instanceof StepFailure
      ? Object.keys(job.app.instances)
      : file.instances.map((each) => each.name);
  return names.join(',') || 'default';
}

/** Marks the app as being deployed, so that a kill from here on is noticed. */
function begin(job: Job, instance: string): void {
  changeApp(job.paths, job.io, 'deploy', job.app.app, (app) => ({
    ...app,
    last_checked: job.io.now().toISOString(),
    deploying: {
      deploy_id: job.deployId,
      pid: job.io.pid,
      started: job.io.now().toISOString(),
      boot_id: bootId(),
      commit: job.commit,
      version: job.version,
      instance,
      stage: 'config',
    },
  }));
}

/** The commit's own choice; when it cannot be read the active release's, else the global one. */
function channelChoice(job: Job, file: DeployFile | StepFailure): DeployFile['notify'] | undefined {
  if (!(file instanceof StepFailure)) return file.notify;
  const active = Object.values(job.app.instances)
    .map((each) => each.current)
    .find((each): each is Deployed => each !== null);
  return active && fileOfRelease(job.paths, job.app.app, active)?.notify;
}

/** What comes after a success and cannot undo it: hook, old releases, old logs. */
async function afterwards(job: Job, file: DeployFile, release: string): Promise<void> {
  const { paths, app, reporter } = job;
  for (const instance of file.instances) {
    try {
      await runHook(job, partsOf(job, file, instance, release), 'post_deploy');
    } catch (error) {
      reporter.note(`the deploy succeeded, but ${asStepFailure(error, 'hook').message}`);
    }
  }
  await stopRemoved(job, file);
  await keepBaseline(job);
  tidy(job, paths, app.app);
}

/** Removes old releases and logs; that it fails is told and changes nothing. */
function tidy(job: Pick<Job, 'reporter' | 'log'>, paths: Paths, app: string): void {
  try {
    pruneReleases(paths.app(app), requireApp(paths, app));
    pruneLogs(paths, app, (path) => statSync(path).mtimeMs, job.log.path);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    job.reporter.note(`old releases or logs could not be removed: ${why}`);
  }
}
