/** A deploy from top to bottom. Everything that touches the running version is below `activate`. */

import { changeApp } from '@runner/common/apps/change';
import type { AppState, Deployed } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import { appendEvent, appendKept } from '@runner/common/audit/append';
import { newDeployId } from '@runner/common/audit/events';
import type { DeployFile, NotifyChoice } from '@runner/common/deploy-file/read';
import { requireLock } from '@runner/common/files/lock';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { configExposure } from '@runner/common/guards/exposure';
import { type Contents, contentsOf, isOfTheCommit } from '../git/contents.ts';
import { sourceOf } from '../git/open-source.ts';
import { fetchHead, fetchRef, type Wanted } from '../git/ref.ts';
import type { Source } from '../git/source.ts';
import { activate, rollBack } from '../instances/activate.ts';
import { onlyInstance, previousOfAll } from '../instances/job-target.ts';
import { fileOfRelease } from '../instances/target.ts';
import { begin, markFailed } from '../record/in-progress.ts';
import { eventOf, type Job } from '../record/job.ts';
import { recover } from '../recovery/recover.ts';
import { checkSpace } from '../release/folder.ts';
import { makeRelease } from '../release/make.ts';
import { silent, startNotifier } from '../report/notifier.ts';
import { type Reporter, redacting, reported } from '../report/reporter.ts';
import { openDeployLog } from '../run/log.ts';
import { asStepFailure, StepFailure } from '../run/step.ts';
import { afterwards, ended } from './finish.ts';
import { concludeSuccess, type Outcome } from './outcome.ts';

/** What is to be deployed, and who wants it. */
export interface DeployRequest {
  readonly io: Io;
  readonly paths: Paths;
  readonly app: string;
  readonly trigger: 'manual' | 'fetch';
  /** Branch, tag or commit; undefined: the head of the app's branch. */
  readonly ref?: string | undefined;
  /** Only this instance; undefined: all. */
  readonly instance?: string | undefined;
  readonly notify: boolean;
  readonly reporter: Reporter;
  readonly signal: AbortSignal;
  /** Called under the lock with what would be deployed; what it throws ends the deploy. */
  confirm?(app: AppState, wanted: Wanted): void;
}

/**
 * Deploys an app. Resolves with the outcome, a failed deploy included; throws a Failure when nothing
 * was begun (unknown app, ref or instance, lock, network, token, disk, audit log).
 */
export async function deploy(request: DeployRequest): Promise<Outcome> {
  const { io, paths, signal, trigger, instance } = request;
  const known = requireApp(paths, request.app);
  const deployId = newDeployId(io.random);
  const since = io.now().toISOString();
  const holder = { pid: io.pid, command: 'deploy', deploy_id: deployId, since };
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
    const { wanted, contents } = await fetchAll(source, reporter, request, app);
    const { commit, version, head } = wanted;
    checkSpace(paths.app(app.app));
    const log = openDeployLog(paths, app.app, deployId, redact, reporter.output);
    const chosen = request.ref !== undefined || instance !== undefined;
    job = {
      ...{ io, paths, app, deployId, commit, version, trigger, signal, log, redact, reporter },
      began,
      passedOver: chosen ? head : undefined,
      partial: instance !== undefined,
      notifier: silent,
      stage: 'config',
    };
    return await run(job, source, contents, request);
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

/** Fetches the commit with its submodules; what is wrong with the commit itself is no refusal. */
async function fetchAll(
  source: Source,
  reporter: Reporter,
  { ref, instance, confirm }: DeployRequest,
  app: AppState,
): Promise<{ wanted: Wanted; contents: Contents | StepFailure }> {
  const step = `fetch ${ref ?? source.branch} of ${source.repo}`;
  return reported(reporter, step, async () => {
    const wanted = await (ref === undefined ? fetchHead(source) : fetchRef(source, ref));
    confirm?.(app, wanted);
    try {
      const contents = await contentsOf(source, wanted.commit);
      const file = onlyInstance(contents.file, instance, wanted.version);
      return { wanted, contents: { ...contents, file } };
    } catch (error) {
      if (!isOfTheCommit(error)) throw error;
      return { wanted, contents: new StepFailure('config', `config: ${error.message}`, '') };
    }
  });
}

async function run(
  job: Job,
  source: Source,
  contents: Contents | StepFailure,
  request: DeployRequest,
): Promise<Outcome> {
  const { paths, io } = job;
  const file = contents instanceof StepFailure ? undefined : contents.file;
  const instance = request.instance ?? instanceNames(job, file);
  const channels = request.notify ? channelChoice(job, file) : 'none';
  const { deployId: deploy_id, commit, version, passedOver } = job;
  const more = {
    ...(channels && { notify: channels }),
    ...(passedOver !== undefined && { passed_over: passedOver }),
  };
  // What the commit says is known by now: with it the first stage is over.
  job.stage = file ? 'export' : 'config';
  begin(job, { deploy_id, commit, version, instance, stage: job.stage, ...more });
  if (request.notify) job.notifier = startNotifier(io, paths.root, channels);
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
  if (contents instanceof StepFailure) {
    logHeadline(job, contents);
    return ended(job, { error: contents, instance, ways: [], file: undefined }, undefined);
  }
  return bring(job, source, contents, instance);
}

/** Makes the release and brings it to its instances. */
async function bring(
  job: Job,
  source: Source,
  { file, submodules }: Contents,
  instance: string,
): Promise<Outcome> {
  let release: string;
  try {
    release = await makeRelease(job, source, file, submodules);
  } catch (thrown) {
    const error = asStepFailure(thrown, job.stage);
    logHeadline(job, error);
    return ended(job, { error, instance, ways: [], file }, undefined);
  }
  const { switched, failure } = await activate(job, file, release);
  if (failure) {
    const { error } = failure;
    logHeadline(job, error);
    if (switched.length > 0) markFailed(job, error, job.redact(error.message));
    const ways = await rollBack(job, file, release, switched);
    return ended(job, { error, instance: failure.instance.name, ways, file }, release);
  }
  const outcome = concludeSuccess(job, file, release);
  await afterwards(job, file, release);
  return outcome;
}

/** The log says what failed before the way back is logged: `debug log` looks for the cause above. */
function logHeadline({ log }: Job, { message, ended: step }: StepFailure): void {
  // A program that ended badly has its headline there already.
  if (!step) log.line(message);
}

/** The instances' names: of the file, else of what was deployed before. */
function instanceNames(job: Job, file: DeployFile | undefined): string {
  const names = file ? file.instances.map((each) => each.name) : Object.keys(job.app.instances);
  return names.join(',') || 'default';
}

/** The commit's own choice; when it cannot be read the active release's, else the global one. */
function channelChoice(job: Job, file: DeployFile | undefined): NotifyChoice | undefined {
  if (file) return file.notify;
  const active = Object.values(job.app.instances)
    .map((each) => each.current)
    .find((each): each is Deployed => each !== null);
  return active && fileOfRelease(job.paths, job.app.app, active)?.notify;
}
