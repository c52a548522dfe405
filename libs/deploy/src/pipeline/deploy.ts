/**
 * A deploy from top to bottom: lock, recover, fetch the commit, free space, DeployStarted, release
 * (export, build), then switch, start and health for each instance, rollback on error, state,
 * DeploySuccess or DeployFailure, prune, unlock, and the chats last.
 */
import { followedWords } from '@runner/common/apps/following';
import type { AppState, Changes } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import { appendEvents } from '@runner/common/audit/append';
import { newDeployId } from '@runner/common/audit/events';
import { appendKept } from '@runner/common/audit/kept';
import type { DeployFile, NotifyChoice } from '@runner/common/deploy-file/read';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { initiatorOf } from '@runner/common/foundation/user';
import { configExposure } from '@runner/common/guards/exposure';
import { cleanRecord } from '@runner/common/redaction/record';
import { changesOf } from '../git/changes.ts';
import { type CommitInfo, commitInfo } from '../git/commit-info.ts';
import { type Contents, contentsOf, isOfTheCommit, lookalikeNote } from '../git/contents.ts';
import { sourceOf } from '../git/open.ts';
import { fetchWanted, type ResolvedRef } from '../git/ref.ts';
import type { GitSource } from '../git/source.ts';
import { activate } from '../instances/activate.ts';
import { drainAll } from '../instances/drain.ts';
import { seenWords } from '../instances/probe.ts';
import { rollBackSwitched } from '../instances/roll-back.ts';
import { activeFile, interruptible, onlyInstance } from '../instances/target.ts';
import { eventsOf } from '../record/events.ts';
import { begin, clearMark, markFailed } from '../record/in-progress.ts';
import { lockApp } from '../record/lock.ts';
import type { Job } from '../record/operation.ts';
import { StageClock } from '../record/stage-clock.ts';
import { recover } from '../recovery/recover.ts';
import { checkSpace, removeTree } from '../release/folder.ts';
import { makeRelease, type Release } from '../release/make.ts';
import { reasoned } from '../release/reason.ts';
import { takeBack } from '../release/shared.ts';
import { silent, startNotifier } from '../report/notifier.ts';
import { type Reporter, redacting, reported } from '../report/reporter.ts';
import { openDeployLog } from '../run/log.ts';
import { asStepFailure, StepFailure } from '../run/step.ts';
import { openSandbox } from '../sandbox/sandbox.ts';
import { announceOver } from '../watch/over.ts';
import { deployInLog } from './ended.ts';
import { finishFailure, finishSuccess } from './finish.ts';
import { type DeployOutcome, previousFields } from './outcome.ts';

/** What to deploy, and on whose behalf. */
export interface DeployRequest {
  readonly io: Io;
  readonly paths: Paths;
  readonly app: string;
  readonly trigger: string;
  /** If the log knows it, nothing is deployed: its end is waited for and returned. */
  readonly deployId?: string | undefined;
  /** Branch, tag or commit; undefined: the head of what the app follows. */
  readonly ref?: string | undefined;
  /** Only this instance; undefined: all. */
  readonly instance?: string | undefined;
  /** It ran before a restore: an operator has not chosen it over the head. */
  readonly returns?: boolean;
  readonly notify: boolean;
  /** How long to wait for the lock, in milliseconds; undefined: not at all. */
  readonly wait?: number | undefined;
  readonly reporter: Reporter;
  readonly signal: AbortSignal;
  /** Called under the lock with what would be deployed; if it throws, the deploy does not begin. */
  confirm?(app: AppState, wanted: ResolvedRef, source: GitSource): Promise<void>;
}

/** A commit that was fetched; its contents are a failure if the commit itself is wrong. */
interface FetchedCommit {
  readonly wanted: ResolvedRef;
  readonly contents: Contents | StepFailure;
  readonly about: CommitInfo;
  readonly changes: Changes;
}

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
    const registered = requireApp(paths, request.app);
    const { source, secrets, redact } = sourceOf(request, registered);
    const reporter = redacting(request.reporter, redact);
    appendKeptEvents(paths, reporter);
    const exposed = configExposure(paths);
    if (exposed) reporter.note(exposed);
    const app = await recover({ io, paths, reporter, redact, secrets, app: registered });
    const endedMeanwhile = deployInLog(paths, request.app, request.deployId);
    if (endedMeanwhile) return endedMeanwhile;
    const sandbox = openSandbox({
      ...{ paths, env: io.env, app: app.app },
      note: (text) => job?.log.line(text),
    });
    const began = io.elapsed();
    const { wanted, contents, about, changes } = await fetchCommit(source, reporter, request, app);
    checkSpace(paths.app(app.app));
    job = {
      ...{ io, paths, app, reporter, redact, secrets, deployId, began, trigger: request.trigger },
      ...{ commit: wanted.commit, version: wanted.version, signal: request.signal },
      log: openDeployLog(paths, app.app, deployId, redact, reporter.output),
      sandbox,
      skippedHead:
        request.ref !== undefined || request.instance !== undefined ? wanted.head : undefined,
      partial: request.instance !== undefined,
      returns: request.returns ?? false,
      notifier: silent,
      stages: new StageClock(io, began, contents instanceof StepFailure ? 'config' : 'export'),
      about,
      changes: cleanRecord({ ...changes }, redact),
    };
    const note = contents instanceof StepFailure ? undefined : lookalikeNote(contents);
    if (note) reporter.note(note);
    startDeploy(job, contents, request);
    return await runDeploy(job, source, contents, request);
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

function appendKeptEvents(paths: Paths, reporter: Reporter): void {
  try {
    appendKept(paths);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    reporter.note(`${error.message} (${error.code})`);
  }
}

/** Fetches the commit with its submodules, and reads its `.deploy.yml`. */
async function fetchCommit(
  source: GitSource,
  reporter: Reporter,
  { ref, instance, confirm }: DeployRequest,
  app: AppState,
): Promise<FetchedCommit> {
  return reported(reporter, `fetch ${ref ?? followedWords(source)} of ${source.repo}`, async () => {
    const wanted = await fetchWanted(source, ref);
    await confirm?.(app, wanted, source);
    const about = await commitInfo(source, wanted.commit);
    const changes = await changesOf(source, activeCommit(app, instance), wanted.commit, about);
    const known = { wanted, about, changes };
    try {
      const contents = await contentsOf(source, wanted.commit);
      const file = onlyInstance(contents.file, instance, wanted.version);
      return { ...known, contents: { ...contents, file } };
    } catch (error) {
      if (!isOfTheCommit(error)) throw error;
      const failure = new StepFailure('config', `config: ${error.message}`, '');
      return { ...known, contents: failure };
    }
  });
}

/** The commit that the deploy takes the place of. */
function activeCommit({ instances }: AppState, instance: string | undefined): string | undefined {
  const all = instance === undefined ? Object.values(instances) : [instances[instance]];
  return all.find((each) => each?.current)?.current?.commit;
}

/** Marks the app as being deployed, and records DeployStarted: without a record, no deploy. */
function startDeploy(job: Job, contents: Contents | StepFailure, request: DeployRequest): void {
  const { io, paths, commit, version, skippedHead } = job;
  const file = contents instanceof StepFailure ? undefined : contents.file;
  const instances = instanceNames(job, file, request);
  const channels = request.notify ? channelChoice(job, file) : 'none';
  begin(job, {
    ...{ deploy_id: job.deployId, commit, version, instance: instances.join(',') },
    ...{ stage: job.stages.now, user: initiatorOf(io, job.trigger) },
    ...(channels && { notify: channels }),
    ...(skippedHead !== undefined && { passed_over: skippedHead, partial: job.partial }),
    ...(job.returns && { returns: true }),
  });
  if (request.notify) job.notifier = startNotifier(io, paths.root, channels);
  const events = eventsOf(job, 'DeployStarted', instances, file, (instance) => ({
    ...previousFields(job, instance),
    changes: job.changes,
  }));
  try {
    for (const event of appendEvents(paths, events)) job.notifier.send(event);
  } catch (error) {
    clearMark(job);
    throw error;
  }
}

/** Makes the release and brings it to its instances. */
async function runDeploy(
  job: Job,
  source: GitSource,
  contents: Contents | StepFailure,
  request: DeployRequest,
): Promise<DeployOutcome> {
  if (contents instanceof StepFailure) {
    return failEarly(job, contents, instanceNames(job, undefined, request), undefined);
  }
  const { file } = contents;
  let release: Release;
  try {
    release = await makeRelease(job, source, contents);
  } catch (error) {
    const instances = instanceNames(job, file, request);
    return failEarly(job, asStepFailure(error, job.stages.now), instances, file);
  }
  const { name, seeds } = release;
  const activation = await activate(job, file, name);
  const { switched, failure, seen } = activation;
  if (seen) job.reporter.note(seenWords(seen));
  if (!failure) return finishSuccess(job, file, name, seen);
  const { instance } = failure;
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
  const instances = instanceNames(job, file, request);
  return finishFailure(job, { error, at: instance.name, instances, moves, file, seen }, name);
}

/** A failure before anything was switched. */
function failEarly(
  job: Job,
  error: StepFailure,
  instances: readonly string[],
  file: DeployFile | undefined,
): Promise<DeployOutcome> {
  logHeadline(job, error);
  const rest = { at: undefined, instances, moves: [], file, seen: undefined };
  return finishFailure(job, { error, ...rest });
}

/** The log names the failure before the rollback is logged: `debug log` looks for the cause above. */
function logHeadline({ log }: Job, { message, ended: step }: StepFailure): void {
  // The headline of a program that failed is in the log already.
  if (!step) log.line(message);
}

/** The one instance that was asked for, else those of the file, else those deployed before. */
function instanceNames(
  job: Job,
  file: DeployFile | undefined,
  { instance }: DeployRequest,
): readonly string[] {
  if (instance !== undefined) return [instance];
  const names = file ? file.instances.map((each) => each.name) : Object.keys(job.app.instances);
  return names.length > 0 ? names : ['default'];
}

/** The choice of the commit; if that cannot be read, of the active release, else the global one. */
function channelChoice(job: Job, file: DeployFile | undefined): NotifyChoice | undefined {
  if (file) return file.notify;
  return activeFile(job.paths, job.app)?.notify;
}
