/**
 * `runner rollback`: a kept release is made active again. It needs neither network nor token, and
 * holds the abandoned commit, so that `fetch --deploy` does not bring it back.
 */
import type { Deployed } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import { newDeployId } from '@runner/common/audit/events';
import { requireLock } from '@runner/common/files/lock';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { redactorOf } from '../git/open-source.ts';
import { goBack, type Mark } from '../instances/go-back.ts';
import { fileOfRelease, partsOfApp, partsOfRelease } from '../instances/target.ts';
import { isRestart, rolledBackState, type Way } from '../record/after-rollback.ts';
import { type Aftermath, withAftermath } from '../record/broken-instances.ts';
import { lastFailure } from '../record/failures.ts';
import { begin, markFailed, markStageAnyway, writeEnd } from '../record/in-progress.ts';
import { recover } from '../recovery/recover.ts';
import { type Notifier, silent, startNotifier } from '../report/notifier.ts';
import { type Reporter, redacting, reported } from '../report/reporter.ts';
import { type DeployLog, openDeployLog } from '../run/log.ts';
import { asStepFailure } from '../run/step.ts';
import { tellFailed, tellRolledBack, type Walk } from './events.ts';
import { routesOf } from './plan.ts';

/** What the command line asks for. */
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
  /** The version that was active was started again; nothing was switched. */
  restarted?: true;
  duration_ms: number;
  error?: string;
  /** Why the version that was active could not be brought back either; the exit status is 3 then. */
  rollback_error?: string;
}

/** Throws `app_not_found`, `locked`, `instance_not_found`, `version_not_found`. */
export async function rollBackByHand(request: RollbackRequest): Promise<RollbackOutcome> {
  const { io, paths } = request;
  const known = requireApp(paths, request.app);
  const deployId = newDeployId(io.random);
  const since = io.now().toISOString();
  const holder = { pid: io.pid, command: 'rollback', deploy_id: deployId, since };
  const lock = requireLock(paths.lock(known.app), `'${known.app}'`, 0, holder);
  const redact = await redactorOf(request, known.app);
  const reporter = redacting(request.reporter, redact);
  let notifier: Notifier = silent;
  let log: DeployLog | undefined;
  try {
    const app = await recover({ io, paths, reporter, redact }, requireApp(paths, known.app));
    const { ways, staying } = routesOf(paths, app, request);
    for (const line of staying) reporter.note(line);
    log = openDeployLog(paths, app.app, deployId, redact, reporter.output);
    const own = fileOfRelease(paths, app.app, ways[0].to)?.notify;
    const channels = request.notify ? own : 'none';
    notifier = startNotifier(io, paths.root, channels);
    const walked = { io, paths, app, deployId, reporter, redact, log, notifier };
    beginAnyway(walked, ways, channels);
    return await walk(walked, ways);
  } finally {
    lock.release();
    log?.close();
    for (const line of await notifier.finish()) request.reporter.note(line);
  }
}

/**
 * A full disk must not keep an operator from going back: only a kill would not be noticed then. A busy
 * registry may: another command works on it, and nothing has been changed yet.
 */
function beginAnyway(
  walked: Walk,
  ways: readonly [Way, ...Way[]],
  notify: string | undefined,
): void {
  const { version, commit } = ways[0].to;
  try {
    begin(walked, {
      deploy_id: walked.deployId,
      commit,
      version,
      instance: ways.map((way) => way.name).join(','),
      stage: 'switch',
      rollback: Object.fromEntries(ways.map((way) => [way.name, way.to.release])),
      ...(notify !== undefined && { notify }),
    });
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'locked') throw error;
    walked.reporter.note(`${error.message}; the rollback goes on (${error.code})`);
  }
}

async function walk(walked: Walk, ways: readonly [Way, ...Way[]]): Promise<RollbackOutcome> {
  const { io } = walked;
  const began = io.elapsed();
  const done: Way[] = [];
  const base = {
    app: walked.app.app,
    from_version: ways[0].from.version,
    instance: ways.map((way) => way.name).join(','),
    deploy_id: walked.deployId,
    ...(isRestart(ways[0]) && { restarted: true as const }),
  };
  const took = () => Math.round(io.elapsed() - began);
  for (const way of ways) {
    try {
      const step = isRestart(way)
        ? `start ${way.to.version} of ${way.name} again`
        : `roll back ${way.name} to ${way.to.version}`;
      markStageAnyway(walked, 'switch', way.name);
      await reported(walked.reporter, step, () =>
        go(walked, way.name, way.from, way.to, (stage) => markStageAnyway(walked, stage)),
      );
      done.push(way);
    } catch (cause) {
      const failed = await giveUp(walked, [...done, way], way, cause);
      return { ...base, result: 'failed', duration_ms: took(), ...failed };
    }
  }
  // The events first: from them a state that was not written can be mended.
  for (const way of ways) tellRolledBack(walked, way);
  writeEnd(walked, (now) => rolledBackState(now, ways, io.now()));
  return { ...base, result: 'rolled_back', version: ways[0].to.version, duration_ms: took() };
}

/** Makes `to` active in place of `from`, each by its own `.deploy.yml`. */
function go(walked: Walk, name: string, from: Deployed, to: Deployed, mark?: Mark): Promise<void> {
  const parts = partsOfApp(walked);
  return goBack(parts, name, partsOfRelease(parts, name, from), to, mark);
}

/** Brings back what was active, and records the failure. */
async function giveUp(
  walked: Walk,
  touched: readonly Way[],
  way: Way,
  cause: unknown,
): Promise<Pick<RollbackOutcome, 'version' | 'error' | 'rollback_error'>> {
  const error = asStepFailure(cause, 'start');
  const headline = walked.redact(error.message);
  markFailed(walked, error, headline);
  const aftermath = await returnTo(walked, touched);
  const trouble = troubleOf(touched, aftermath);
  const text = [headline, trouble, error.output.trimEnd()].filter(Boolean).join('\n');
  tellFailed(walked, way, error, text, trouble);
  const last = { ...way.to, deployId: walked.deployId };
  writeEnd(walked, (now) => ({
    ...now,
    instances: withAftermath(now.instances, aftermath, walked.io.now()),
    last_failure: { ...lastFailure(last, error.stage, text, walked.io.now()), rollback: true },
    deploying: null,
  }));
  return trouble
    ? { version: null, error: text, rollback_error: trouble }
    : { version: way.from.version, error: text };
}

/** Brings each instance back, last first: one that does not start keeps no other from it. */
async function returnTo(walked: Walk, ways: readonly Way[]): Promise<Aftermath[]> {
  const aftermath: Aftermath[] = [];
  for (const way of [...ways].reverse()) {
    const { name: instance, from, to } = way;
    try {
      await reported(walked.reporter, `return ${instance} to ${from.version}`, () =>
        go(walked, instance, to, from),
      );
      aftermath.push({ instance, problem: undefined });
    } catch (error) {
      aftermath.push({ instance, problem: walked.redact(asStepFailure(error, 'start').message) });
    }
  }
  return aftermath;
}

/** Undefined when every instance was brought back. */
function troubleOf(ways: readonly Way[], aftermath: readonly Aftermath[]): string | undefined {
  const troubles = aftermath.flatMap(({ instance, problem }) => {
    const from = ways.find((way) => way.name === instance)?.from.version;
    return problem === undefined ? [] : [`return to ${from} failed: ${problem}`];
  });
  return troubles.length > 0 ? troubles.join('; ') : undefined;
}
