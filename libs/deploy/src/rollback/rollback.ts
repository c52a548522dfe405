/**
 * `runner rollback`: makes a kept release active again. It needs neither network nor token, and puts
 * the commit that it leaves on hold, so that `fetch --deploy` skips it.
 */
import { noteStarting } from '@runner/common/app-secrets/change';
import { openSecrets } from '@runner/common/app-secrets/open';
import type { Changes } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import { versionLabel } from '@runner/common/apps/versions';
import { newDeployId } from '@runner/common/audit/events';
import { Failure } from '@runner/common/foundation/failure';
import type { Server } from '@runner/common/foundation/paths';
import { initiatorOf } from '@runner/common/foundation/user';
import { redactorForAny } from '@runner/common/redaction/redact';
import { drainAll } from '../instances/drain.ts';
import { fileOfRelease } from '../instances/kept-file.ts';
import { blockingMoves, stopAll } from '../instances/switch-back.ts';
import { uninterrupted } from '../instances/target.ts';
import { isRestart, reasonOf, rolledBackState } from '../journal/after-rollback.ts';
import { announce, rolledBackEvents } from '../journal/events.ts';
import { begin, markStageAnyway, secretsStarted, writeEnd } from '../journal/mark.ts';
import { lockApp } from '../journal/lock.ts';
import { recover } from '../operation/recover.ts';
import { type Notifier, silent, startNotifier } from '../report/notifier.ts';
import { type Reporter, redacting, reported } from '../report/reporter.ts';
import { type DeployLog, openDeployLog } from '../run/log.ts';
import { openSandboxAnyway } from '../sandbox/sandbox.ts';
import { announceOver } from '../watch/over.ts';
import { refuseBorder } from './border.ts';
import { rollbackInLog } from './ended.ts';
import type { RollbackOutcome } from './outcome.ts';
import { type NothingToDo, nothingToDo, planRollback } from './plan.ts';
import { type Moves, moveOne, type RollbackJob, undo } from './undo.ts';

/** What the command line asks for. */
export interface RollbackRequest extends Server {
  readonly app: string;
  /** Version to roll back to; undefined: the previous one. */
  readonly to: string | undefined;
  /** Only this instance; undefined: all. */
  readonly instance: string | undefined;
  readonly notify: boolean;
  /** Go back to a version without `traffic` too: the proxy has to be changed. */
  readonly force: boolean;
  readonly trigger: string;
  /** If the log knows it, nothing is done: its end is waited for and returned. */
  readonly deployId?: string | undefined;
  readonly reporter: Reporter;
}

/** Throws `app_not_found`, `locked`, `instance_not_found`, `version_not_found`. */
export async function rollBackByHand(request: RollbackRequest): Promise<RollbackOutcome> {
  const { io, paths } = request;
  const deployId = request.deployId ?? newDeployId(io.random);
  const ended = rollbackInLog(paths, request.app, request.deployId);
  if (ended) return ended;
  const lock = await lockApp(request, 'rollback', request.trigger, deployId);
  let notifier: Notifier = silent;
  let log: DeployLog | undefined;
  let job: RollbackJob | undefined;
  try {
    const redact = await redactorForAny({ paths, env: io.env }, request.app);
    const reporter = redacting(request.reporter, redact);
    const secrets = openSecrets(paths, io.env, request.app);
    const known = requireApp(paths, request.app);
    const app = await recover({ io, paths, reporter, redact, secrets, app: known });
    const endedMeanwhile = rollbackInLog(paths, request.app, request.deployId);
    if (endedMeanwhile) return endedMeanwhile;
    const nothing = nothingToDo(paths, app, request);
    if (nothing) return unchanged(app.app, nothing);
    const { moves, staying } = planRollback(paths, app, request);
    if (!request.force) refuseBorder(paths, app.app, moves);
    for (const line of staying) reporter.note(line);
    log = openDeployLog(paths, app.app, deployId, redact, reporter.output);
    const sandbox = openSandboxAnyway({ paths, env: io.env, app: app.app, note: log.line });
    const channels = request.notify ? fileOfRelease(paths, app.app, moves[0].to)?.notify : 'none';
    notifier = startNotifier(io, paths.root, channels);
    const common = { io, paths, app, deployId, reporter, redact, secrets, sandbox };
    job = { ...common, log, notifier, trigger: request.trigger };
    beginAnyway(job, moves, channels);
    noteSecrets(job, moves);
    return await moveAll(job, moves);
  } finally {
    lock.release();
    if (job) await drainAll(uninterrupted(job), job.reporter);
    log?.close();
    for (const line of await notifier.finish()) request.reporter.note(line);
    await announceOver(request, 'rollback');
  }
}

function unchanged(app: string, nothing: NothingToDo): RollbackOutcome {
  const done = { result: 'unchanged' as const, deploy_id: null, duration_ms: 0 };
  return { app, ...nothing, from_version: nothing.version, ...done };
}

/**
 * A full disk must not prevent a rollback: it only means that a kill would not be noticed. A busy
 * registry may: another command is at work, and nothing has been changed yet.
 */
function beginAnyway(job: RollbackJob, moves: Moves, notify: string | undefined): void {
  const { version, commit } = moves[0].to;
  try {
    begin(job, {
      deploy_id: job.deployId,
      commit,
      version,
      instance: namesOf(moves),
      stage: 'switch',
      user: initiatorOf(job.io, job.trigger),
      rollback: Object.fromEntries(moves.map(({ instance, to }) => [instance, to.release])),
      ...(notify !== undefined && { notify }),
    });
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'locked') throw error;
    job.reporter.note(`${error.message}; the rollback continues (${error.code})`);
  }
}

/** A full disk must not prevent a rollback: an automatic one would then restore older secrets. */
function noteSecrets(job: RollbackJob, moves: Moves): void {
  try {
    const names = moves.map(({ instance }) => instance);
    noteStarting(job, job.app.app, names, job.secrets);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    job.reporter.note(`${error.message}; the rollback continues (${error.code})`);
  }
}

function namesOf(moves: Moves): string {
  return moves.map((move) => move.instance).join(',');
}

/** The subject of a version's own commit: the newest of those that it brought. */
function subjectOf(changes: Changes | undefined): { subject?: string } {
  const [subject] = changes?.subjects ?? [];
  return subject === undefined ? {} : { subject };
}

async function moveAll(job: RollbackJob, moves: Moves): Promise<RollbackOutcome> {
  const { io, reporter } = job;
  const began = io.elapsed();
  const base = {
    app: job.app.app,
    from_version: moves[0].from.version,
    instance: namesOf(moves),
    deploy_id: job.deployId,
    instances: moves.map(({ instance, from, to }) => {
      const [from_version, version] = [versionLabel(from, [to]), versionLabel(to, [from])];
      return { instance, from_version, version };
    }),
    ...(isRestart(moves[0]) && { restarted: true as const }),
  };
  const duration = () => Math.round(io.elapsed() - began);
  const blocking = blockingMoves(uninterrupted(job), moves);
  for (const [index, move] of moves.entries()) {
    const { instance, to } = move;
    const step = isRestart(move)
      ? `start ${to.version} of ${instance} again`
      : `roll back ${instance} to ${to.version}`;
    try {
      markStageAnyway(job, 'switch', instance);
      if (index === 0) await stopAll(blocking);
      await reported(reporter, step, () => moveOne(job, move, 'today'));
    } catch (cause) {
      const failed = await undo(
        job,
        blocking.length > 0 ? moves : moves.slice(0, index + 1),
        move,
        cause,
      );
      return { ...base, result: 'failed', duration_ms: duration(), ...failed };
    }
  }
  // The events first: a state that could not be written is corrected from them.
  const events = rolledBackEvents(job, moves, (move) => ({
    file: fileOfRelease(job.paths, job.app.app, move.to),
    reason: reasonOf(move),
    more: {
      from_commit: move.from.commit,
      duration_ms: duration(),
      ...subjectOf(move.to.changes),
    },
  }));
  announce(job, events);
  secretsStarted(job);
  const by = initiatorOf(io, job.trigger);
  writeEnd(job, (now) => rolledBackState(now, moves, io.now(), by));
  return { ...base, result: 'rolled_back', version: moves[0].to.version, duration_ms: duration() };
}
