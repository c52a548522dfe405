/** A deploy before it changes anything: the app under its lock, the commit, and DeployStarted. */
import { followedWords } from '@runner/common/apps/following';
import type { AppState, Changes } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import { appendEvents } from '@runner/common/audit/append';
import { appendKept } from '@runner/common/audit/kept';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths, Server } from '@runner/common/foundation/paths';
import { initiatorOf } from '@runner/common/foundation/user';
import { configExposure } from '@runner/common/guards/exposure';
import { cleanRecord } from '@runner/common/redaction/record';
import { changesOf } from '../git/changes.ts';
import { type CommitInfo, commitInfo } from '../git/commit-info.ts';
import { type Contents, contentsOf, isOfTheCommit, lookalikeNote } from '../git/contents.ts';
import { sourceOf } from '../git/open.ts';
import { fetchWanted, type ResolvedRef } from '../git/ref.ts';
import type { GitSource } from '../git/source.ts';
import { activeFile, onlyInstance } from '../instances/target.ts';
import { eventsOf } from '../journal/events.ts';
import { begin, clearMark } from '../journal/mark.ts';
import type { Job, Operation } from '../journal/operation.ts';
import { StageClock } from '../journal/clock.ts';
import { recover } from '../operation/recover.ts';
import { silent, startNotifier } from '../report/notifier.ts';
import { type Reporter, redacting, reported } from '../report/reporter.ts';
import { openDeployLog } from '../run/log.ts';
import { StepFailure } from '../run/step.ts';
import { openSandbox } from '../sandbox/sandbox.ts';
import { previousFields } from './outcome.ts';

/** What to deploy, and on whose behalf. */
export interface DeployRequest extends Server {
  readonly app: string;
  readonly trigger: string;
  /** If the log has a deploy with this id, nothing is deployed: its result is awaited and returned. */
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

/** Opens the repository of an app, and cleans up after a killed deploy. Under the app's lock. */
export async function openApp(
  request: DeployRequest,
): Promise<{ source: GitSource; operation: Operation }> {
  const { io, paths } = request;
  const registered = requireApp(paths, request.app);
  const { source, secrets, redact } = sourceOf(request, registered);
  const reporter = redacting(request.reporter, redact);
  appendKeptEvents(paths, reporter);
  const exposed = configExposure(paths);
  if (exposed) reporter.note(exposed);
  const app = await recover({ io, paths, reporter, redact, secrets, app: registered });
  return { source, operation: { io, paths, app, reporter, redact, secrets } };
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
export async function fetchCommit(
  source: GitSource,
  { reporter, app }: Operation,
  { ref, instance, confirm }: DeployRequest,
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
      const failure = new StepFailure('config', `config: ${error.message}`);
      return { ...known, contents: failure };
    }
  });
}

/** The commit that the deploy replaces. */
function activeCommit({ instances }: AppState, instance: string | undefined): string | undefined {
  const all = instance === undefined ? Object.values(instances) : [instances[instance]];
  return all.find((each) => each?.current)?.current?.commit;
}

/** The job of deploying a commit; opens its log and its sandbox. */
export function openJob(
  operation: Operation,
  { wanted, contents, about, changes }: FetchedCommit,
  { trigger, ref, instance, returns = false, signal }: DeployRequest,
  { deployId, began }: Pick<Job, 'deployId' | 'began'>,
): Job {
  const { io, paths, app, reporter, redact } = operation;
  const isWrong = contents instanceof StepFailure;
  const note = isWrong ? undefined : lookalikeNote(contents);
  if (note) reporter.note(note);
  const sandbox = openSandbox({
    ...{ paths, env: io.env, app: app.app },
    note: (text) => log.line(text),
  });
  const log = openDeployLog(paths, app.app, deployId, redact, reporter.output);
  return {
    ...operation,
    ...{ deployId, began, trigger, signal, log, sandbox, about },
    ...{ commit: wanted.commit, version: wanted.version },
    instances: instanceNames(app, isWrong ? undefined : contents, instance),
    skippedHead: ref !== undefined || instance !== undefined ? wanted.head : undefined,
    partial: instance !== undefined,
    returns,
    notifier: silent,
    stages: new StageClock(io, began, isWrong ? 'config' : 'export'),
    changes: cleanRecord({ ...changes }, redact),
  };
}

/** The one instance that was asked for, else those of the file, else those deployed before. */
function instanceNames(
  app: AppState,
  contents: Contents | undefined,
  instance: string | undefined,
): readonly string[] {
  if (instance !== undefined) return [instance];
  if (contents) return contents.file.instances.map(({ name }) => name);
  const names = Object.keys(app.instances);
  return names.length > 0 ? names : ['default'];
}

/** Marks the app as being deployed, and records DeployStarted: without a record, no deploy. */
export function recordStart(job: Job, { contents }: FetchedCommit, notify: boolean): void {
  const { io, paths, commit, version, skippedHead, instances } = job;
  const file = contents instanceof StepFailure ? undefined : contents.file;
  // The choice of the commit; if that cannot be read, of the active release, else the global one.
  const channels = notify ? (file ?? activeFile(paths, job.app))?.notify : 'none';
  begin(job, {
    ...{ deploy_id: job.deployId, commit, version, instance: instances.join(',') },
    ...{ stage: job.stages.now, user: initiatorOf(io, job.trigger) },
    ...(channels && { notify: channels }),
    ...(skippedHead !== undefined && { passed_over: skippedHead, partial: job.partial }),
    ...(job.returns && { returns: true }),
  });
  if (notify) job.notifier = startNotifier(io, paths.root, channels);
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
