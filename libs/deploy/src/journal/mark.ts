/**
 * The mark in the state of an app while a deploy or rollback runs, from which the next command sees
 * that it was killed, and cleans up.
 */
import { noteStarted, noteStarting } from '@runner/common/app-secrets/change';
import { changeApp } from '@runner/common/apps/change';
import type { AppState, Deploying } from '@runner/common/apps/state';
import { bootId, startTimeOf } from '@runner/common/files/process';
import { Failure } from '@runner/common/foundation/failure';
import type { Stage, StepFailure } from '../run/step.ts';
import type { Job, Operation } from './operation.ts';

/** Limit of the error in the mark, in characters: the log has the full text. */
const ERROR_MAX = 4_000;

/** Marks the app as being deployed: from here on a kill is noticed. */
export function begin(
  { io, paths, app }: Operation,
  what: Omit<Deploying, 'pid' | 'started' | 'boot_id' | 'start_time'>,
): void {
  const now = io.now().toISOString();
  const { commit, version, passed_over: head = commit } = what;
  changeApp(paths, io, 'deploy', app.app, (state) => ({
    ...state,
    ...(!what.rollback && { last_checked: now, check_failed: null, head }),
    ...(!what.rollback && head === commit && { head_version: { commit, version } }),
    deploying: { ...what, ...processOf(io), started: now },
  }));
}

function processOf({ pid }: Operation['io']) {
  const start_time = startTimeOf(pid);
  return { pid, boot_id: bootId(), ...(start_time !== undefined && { start_time }) };
}

/** Removes the mark and changes nothing else. */
export function clearMark({ io, paths, app }: Operation): AppState {
  return changeApp(paths, io, 'deploy', app.app, (now) => ({ ...now, deploying: null }));
}

/** Changes the mark, if it could be written at the beginning. */
function mark(
  { io, paths, app }: Operation,
  change: (now: Deploying) => Deploying,
  wait?: number,
): void {
  const marked = (state: AppState) => ({
    ...state,
    deploying: state.deploying && change(state.deploying),
  });
  changeApp(paths, io, 'deploy', app.app, marked, wait);
}

/** Records how far a deploy is; `instance` is the one that is touched from here on. */
export function markStage(job: Job, stage: Stage, instance?: string): void {
  job.stages.enter(stage);
  mark(job, (now) => staged(now, stage, instance));
}

/** The same for a rollback, which must continue even if a kill would not be noticed. */
export function markStageAnyway(operation: Operation, stage: Stage, instance?: string): void {
  markAnyway(operation, (now) => staged(now, stage, instance));
}

function staged(now: Deploying, stage: Stage, instance: string | undefined): Deploying {
  const touched = instance === undefined ? now.touched : [...(now.touched ?? []), instance];
  return { ...now, stage, ...(touched && { touched: [...new Set(touched)] }) };
}

/** Records why it fails: rolling back takes time, and a kill must not lose the cause. */
export function markFailed(operation: Operation, error: StepFailure, text: string): void {
  const failed = { stage: error.stage, error: text.slice(0, ERROR_MAX), blame: error.blame };
  markAnyway(operation, (now) => ({ ...now, stage: 'rollback', failed }));
}

/** Seconds that a mark waits for another command's change: instances may be down meanwhile. */
const MARK_WAIT = 5;
/** Operations that have found the registry busy: their later marks do not wait again. */
const metBusy = new WeakSet<Operation>();

function markAnyway(operation: Operation, change: (now: Deploying) => Deploying): void {
  anyway(operation, () => mark(operation, change, metBusy.has(operation) ? 0 : MARK_WAIT));
}

/**
 * Writes how it ended. If that fails, the mark stays: the next command finds the last event in the
 * log and corrects the state.
 */
export function writeEnd(operation: Operation, change: (app: AppState) => AppState): void {
  const { io, paths, app } = operation;
  anyway(operation, () => changeApp(paths, io, 'deploy', app.app, change));
}

/**
 * The secrets with which instances were started are those that run now; `names` if it was not noted
 * before which ones that are.
 */
export function secretsStarted(operation: Operation, names?: readonly string[]): void {
  const { app, secrets } = operation;
  anyway(operation, () => {
    if (names) noteStarting(operation, app.app, names, secrets);
    noteStarted(operation, app.app);
  });
}

function anyway(operation: Operation, write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error.code === 'locked') metBusy.add(operation);
    operation.reporter.note(
      `${error.message}; the next command corrects the state (${error.code})`,
    );
  }
}
