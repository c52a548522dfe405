/**
 * What the app's state tells of a deploy or rollback while it runs, so that the next command can tell
 * and clean up one that was killed.
 */

import { changeApp } from '@runner/common/apps/change';
import type { AppState, Deploying } from '@runner/common/apps/state';
import { bootId } from '@runner/common/files/process';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import type { Reporter } from '../report/reporter.ts';
import type { Stage, StepFailure } from '../run/step.ts';
import type { Job } from './job.ts';

/** Longest error that is noted beside the stage, in characters: the whole one is in the log. */
const ERROR_MAX = 4_000;

/** Whose state is written, and where trouble with that is told. */
export interface Writer {
  readonly io: Io;
  readonly paths: Paths;
  readonly reporter: Reporter;
  readonly app: Pick<AppState, 'app'>;
}

/** Marks the app as being deployed, so that a kill from here on is noticed. */
export function begin(
  { io, paths, app }: Writer,
  what: Omit<Deploying, 'pid' | 'started' | 'boot_id'>,
): void {
  const now = io.now().toISOString();
  changeApp(paths, io, 'deploy', app.app, (state) => ({
    ...state,
    ...(!what.rollback && { last_checked: now, check_failed: null }),
    deploying: { ...what, pid: io.pid, started: now, boot_id: bootId() },
  }));
}

/** Changes the mark; there is none when it could not be written at the beginning. */
function mark(
  { io, paths, app }: Writer,
  change: (now: Deploying) => Deploying,
  wait?: number,
): void {
  const marked = (state: AppState) => ({
    ...state,
    deploying: state.deploying && change(state.deploying),
  });
  changeApp(paths, io, 'deploy', app.app, marked, wait);
}

/** Notes how far a deploy is; `instance` is the one that is touched from here on. */
export function markStage(job: Job, stage: Stage, instance?: string): void {
  job.stage = stage;
  mark(job, (now) => staged(now, stage, instance));
}

/** The same for what must go on although nobody would learn of a kill. */
export function markStageAnyway(writer: Writer, stage: Stage, instance?: string): void {
  markAnyway(writer, (now) => staged(now, stage, instance));
}

function staged(now: Deploying, stage: Stage, instance: string | undefined): Deploying {
  const touched = instance === undefined ? now.touched : [...(now.touched ?? []), instance];
  return { ...now, stage, ...(touched && { touched: [...new Set(touched)] }) };
}

/** Notes why it fails: going back takes time, and a kill must not lose the cause. */
export function markFailed(writer: Writer, error: StepFailure, text: string): void {
  const failed = { stage: error.stage, error: text.slice(0, ERROR_MAX), blame: error.blame };
  markAnyway(writer, (now) => ({ ...now, stage: 'rollback', failed }));
}

/** Seconds that a mark waits for another command's change: the way back is under way. */
const MARK_WAIT = 5;
/** Writers that have met a registry that stays busy: their next marks do not wait for it once more. */
const met = new WeakSet<Writer>();

function markAnyway(writer: Writer, change: (now: Deploying) => Deploying): void {
  anyway(writer, () => mark(writer, change, met.has(writer) ? 0 : MARK_WAIT));
}

/**
 * Writes how it ended. When that fails, `deploying` stays: the next command finds the last event in
 * the log and puts the state right.
 */
export function writeEnd(writer: Writer, change: (app: AppState) => AppState): void {
  const { io, paths, app } = writer;
  anyway(writer, () => changeApp(paths, io, 'deploy', app.app, change));
}

function anyway(writer: Writer, write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error.code === 'locked') met.add(writer);
    writer.reporter.note(`${error.message}; the next command puts the state right (${error.code})`);
  }
}
