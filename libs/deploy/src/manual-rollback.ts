/**
 * `runner rollback`: a kept release is made active again. It needs neither network nor token, and
 * holds the abandoned commit, so that `fetch --deploy` does not bring it back.
 */
import { type AppState, type Deployed, requireApp } from '@runner/common/apps';
import type { Instance } from '@runner/common/deploy-file';
import { newDeployId } from '@runner/common/events';
import { Failure } from '@runner/common/failure';
import { isThere } from '@runner/common/files';
import type { Io } from '@runner/common/io';
import { requireLock } from '@runner/common/lock';
import type { Paths } from '@runner/common/paths';
import { changeApp } from '@runner/common/registry';
import { redactor } from '@runner/common/secret';
import { type DeployLog, openDeployLog } from './deploy-log.ts';
import { fileOfRelease } from './instance-target.ts';
import { eventOf, recordAnyway } from './job.ts';
import { type Notifier, silent, startNotifier } from './notifier.ts';
import { recover } from './recovery.ts';
import { type Reporter, redacting, reported } from './reporter.ts';
import { goBack } from './rollback.ts';
import { asStepFailure, type StepFailure } from './step.ts';

export interface RollbackRequest {
  readonly io: Io;
  readonly paths: Paths;
  readonly app: string;
  /** Version to go back to; undefined: the one before. */
  readonly to: string | undefined;
  /** Only this instance; undefined: all. */
  readonly instance: string | undefined;
  readonly notify: boolean;
  readonly reporter: Reporter;
}

/** What `runner rollback` prints. */
export interface RollbackOutcome {
  app: string;
  result: 'rolled_back' | 'failed';
  /** The version that is active now; null when that is uncertain. */
  version: string | null;
  from_version: string;
  instance: string;
  deploy_id: string;
  duration_ms: number;
  error?: string;
  /** Why the version that was active could not be brought back either; the exit status is 3 then. */
  rollback_error?: string;
}

/** One instance and where it goes. */
interface Way {
  readonly name: string;
  readonly from: Deployed;
  readonly to: Deployed;
}

/** Throws `app_not_found`, `locked`, `instance_not_found`, `version_not_found`. */
export async function rollBackByHand(request: RollbackRequest): Promise<RollbackOutcome> {
  const { io, paths } = request;
  const known = requireApp(paths, request.app);
  const deployId = newDeployId(io.random);
  const holder = {
    pid: io.pid,
    command: 'rollback',
    deploy_id: deployId,
    since: io.now().toISOString(),
  };
  const lock = requireLock(paths.lock(known.app), `'${known.app}'`, 0, holder);
  const redact = redactor();
  const reporter = redacting(request.reporter, redact);
  let notifier: Notifier = silent;
  let log: DeployLog | undefined;
  try {
    const app = await recover({ io, paths, reporter, redact }, requireApp(paths, known.app));
    const ways = waysOf(paths, app, request);
    log = openDeployLog(paths, app.app, deployId, redact, reporter.output);
    const [first] = ways as [Way, ...Way[]];
    if (request.notify)
      notifier = startNotifier(io, paths.root, fileOfRelease(paths, app.app, first.to)?.notify);
    return await walk({ io, paths, app, deployId, reporter, redact, log, notifier }, ways);
  } finally {
    lock.release();
    log?.close();
    for (const line of await notifier.finish()) request.reporter.note(line);
  }
}

/** Where each instance goes. Every release is there before anything is switched. */
function waysOf(paths: Paths, app: AppState, { instance, to }: RollbackRequest): Way[] {
  if (instance !== undefined && !Object.hasOwn(app.instances, instance)) {
    throw new Failure(
      'instance_not_found',
      `'${app.app}' has no instance '${instance.slice(0, 80)}' that was deployed`,
    );
  }
  const ways = Object.entries(app.instances)
    .filter(([name, { current }]) => current && (instance === undefined || name === instance))
    .map(([name, { current, previous }]) => {
      const wanted =
        to === undefined
          ? previous[0]
          : previous.find((each) => each.version === to || each.release === to);
      return { name, from: current as Deployed, to: wanted };
    });
  const missing = ways.find(
    (way) => !way.to || !isThere(paths.app(app.app).release(way.to.release)),
  );
  if (ways.length === 0 || missing) {
    const kept = Object.values(app.instances).flatMap(({ previous }) =>
      previous.map((each) => each.version),
    );
    const list = kept.length > 0 ? `; kept: ${[...new Set(kept)].join(', ')}` : '';
    throw new Failure(
      'version_not_found',
      to === undefined
        ? `'${app.app}' has no earlier version to go back to`
        : `'${app.app}' has no kept version '${to.slice(0, 80)}'${list}`,
    );
  }
  return ways as Way[];
}

interface Walk {
  readonly io: Io;
  readonly paths: Paths;
  readonly app: AppState;
  readonly deployId: string;
  readonly reporter: Reporter;
  readonly redact: (text: string) => string;
  readonly log: DeployLog;
  readonly notifier: Notifier;
}

async function walk(walked: Walk, ways: readonly Way[]): Promise<RollbackOutcome> {
  const { io, paths, app } = walked;
  const began = io.elapsed();
  const done: Way[] = [];
  const [first] = ways as [Way, ...Way[]];
  const base = {
    app: app.app,
    from_version: first.from.version,
    instance: ways.map((way) => way.name).join(','),
    deploy_id: walked.deployId,
  };
  for (const way of ways) {
    try {
      await reported(walked.reporter, `roll back ${way.name} to ${way.to.version}`, () =>
        go(walked, way.name, way.to),
      );
      done.push(way);
    } catch (cause) {
      const error = asStepFailure(cause, 'start');
      const trouble = await returnTo(walked, [...done, way]);
      const text = [
        walked.redact(error.message),
        ...(trouble ? [trouble] : []),
        error.output.trimEnd(),
      ]
        .filter(Boolean)
        .join('\n');
      tellFailure(walked, way, error, text, trouble);
      const duration_ms = Math.round(io.elapsed() - began);
      const outcome = {
        ...base,
        result: 'failed' as const,
        version: trouble ? null : way.from.version,
        duration_ms,
        error: text,
      };
      return trouble ? { ...outcome, rollback_error: trouble } : outcome;
    }
  }
  changeApp(paths, io, 'rollback', app.app, (now) => ({
    ...now,
    instances: moved(now, ways),
    held: heldBy(io, first.from, first.to),
  }));
  for (const way of ways) tellSuccess(walked, way);
  return {
    ...base,
    result: 'rolled_back',
    version: first.to.version,
    duration_ms: Math.round(io.elapsed() - began),
  };
}

/** Makes a version active for an instance, by that version's own `.deploy.yml`. */
function go({ io, paths, app, log, redact }: Walk, name: string, to: Deployed): Promise<void> {
  const instance: Instance = { name, domain: undefined, env: {} };
  const signal = new AbortController().signal;
  return goBack({ paths, env: io.env, app: app.app, log, redact, signal }, instance, undefined, to);
}

/** Brings back what was active; undefined when that worked. */
async function returnTo(walked: Walk, ways: readonly Way[]): Promise<string | undefined> {
  for (const way of [...ways].reverse()) {
    try {
      await reported(walked.reporter, `return ${way.name} to ${way.from.version}`, () =>
        go(walked, way.name, way.from),
      );
    } catch (error) {
      const { message } = asStepFailure(error, 'start');
      return `return to ${way.from.version} failed: ${walked.redact(message)}`;
    }
  }
  return undefined;
}

/** The abandoned version stays the last of those that can be chosen with `--to`. */
function moved(app: AppState, ways: readonly Way[]): AppState['instances'] {
  const instances = { ...app.instances };
  for (const { name, from, to } of ways) {
    const before = instances[name];
    const older = (before?.previous ?? []).filter((each) => each.release !== to.release);
    const rest = older.filter((each) => each.deployed_at < to.deployed_at);
    const newer = older.filter((each) => each.deployed_at >= to.deployed_at);
    instances[name] = { ...before, current: to, previous: [...rest, ...newer, from] };
  }
  return instances;
}

/** Going forward again holds nothing. */
function heldBy(io: Io, from: Deployed, to: Deployed): AppState['held'] {
  if (to.deployed_at > from.deployed_at) return null;
  return {
    commit: from.commit,
    since: io.now().toISOString(),
    reason: `${from.version} was rolled back by hand`,
  };
}

function identity({ io, app, deployId }: Walk, version: Deployed) {
  return { io, app, deployId, commit: version.commit, version: version.version, trigger: 'manual' };
}

function tellSuccess(walked: Walk, { name, from, to }: Way): void {
  const event = eventOf(identity(walked, to), 'RollbackSuccess', {
    instance: name,
    from_version: from.version,
    reason: 'manual',
  });
  recordAnyway(walked, event);
  walked.notifier.tell(event);
}

function tellFailure(
  walked: Walk,
  way: Way,
  error: StepFailure,
  text: string,
  trouble: string | undefined,
): void {
  const event = eventOf(identity(walked, way.to), 'DeployFailure', {
    instance: way.name,
    stage: error.stage,
    error: text,
    log: walked.log.path,
    // As in every event of a rollback by hand: it is the end of no deploy.
    from_version: way.from.version,
    previous_version: way.from.version,
    ...(trouble !== undefined && { rolled_back: false, reason: trouble }),
  });
  recordAnyway(walked, event);
  walked.notifier.tell(event);
}
