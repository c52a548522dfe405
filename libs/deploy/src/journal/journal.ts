/**
 * The journal of an operation, in the state of its app: from it the next command sees that the
 * operation was killed, and undoes what it had done.
 */
import { noteStarted, noteStarting } from '@runner/common/app-secrets/change';
import { changeApp } from '@runner/common/apps/change';
import type { AppState } from '@runner/common/apps/state';
import { bootId, startTimeOf } from '@runner/common/files/process';
import { failureIn } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import type { Stage, StepFailure } from '../run/step.ts';
import { recordAnyway } from './events.ts';
import type { Journal, Operation } from './operation.ts';
import { recordedEnd, watchEnd, watchRecords } from './watch-ending.ts';

/** Limit of the error in the journal, in characters: the log has the full text. */
const ERROR_MAX = 4_000;

/** What an operation is about to do. */
export type Intent = Omit<
  Journal,
  'deploy_id' | 'pid' | 'started' | 'boot_id' | 'start_time' | 'user'
>;

/** Begins the journal: from here on a kill is noticed. `change` is written with it. */
export function beginJournal(
  op: Operation,
  intent: Intent,
  change: (app: AppState) => AppState = (app) => app,
): void {
  const { io, deployId, user } = op;
  const now = io.now().toISOString();
  const start_time = startTimeOf(io.pid);
  const own = { pid: io.pid, boot_id: bootId(), ...(start_time !== undefined && { start_time }) };
  const journal: Journal = { ...intent, ...own, deploy_id: deployId, user, started: now };
  op.journal = journal;
  const { commit, version, passed_over: head = commit } = intent;
  const isDeploy = !isByHand(journal);
  const watch = endsWatch(op, journal);
  changeOwnState(op, (state) => ({
    ...change(state),
    ...watch,
    ...(isDeploy && { last_checked: now, check_failed: null, head }),
    ...(isDeploy && head === commit && { head_version: { commit, version } }),
    deploying: journal,
  }));
}

/** The trigger of a start of what ran before a reboot. */
export const BOOT = 'boot';

/**
 * Whatever changes an app ends the watch of its release, but for its own way back and a boot: what the
 * state becomes.
 */
function endsWatch(op: Operation, { verb, rollback }: Journal): Partial<AppState> {
  const { watch } = op.app;
  if (!watch || op.trigger === BOOT) return {};
  const what = verb ?? (rollback ? 'rollback' : 'deploy');
  const known = recordedEnd(op.paths, watch);
  const end = known ?? { verdict: 'not_judged' as const, reason: `ended early by a ${what}` };
  const [recorded] = recordAnyway(op, known ? [] : watchRecords(op, watch, end));
  const at = recorded?.timestamp ?? op.io.now().toISOString();
  return { ...(op.trigger !== 'watch' && { watch: null }), watched: watchEnd(watch, end, at) };
}

/** Operations whose journal could not be written. */
const unknown = new WeakSet<Operation>();

/** Whether no later command will know of an operation, unless its end is saved. */
export const isUnknown = (op: Operation) => unknown.has(op);

/** The same for what must be done even if a kill would not be noticed, as on a full disk. */
export function beginAnyway(
  op: Operation,
  intent: Intent,
  change?: (app: AppState) => AppState,
): void {
  try {
    beginJournal(op, intent, change);
  } catch (error) {
    // Another command is at work, and nothing has been changed yet.
    if (!(error instanceof Failure) || error.code === 'locked') throw error;
    unknown.add(op);
    op.reporter.note(`${error.message}; this continues (${error.code})`);
  }
}

/** Changes the state of the app that an operation has locked; waits `wait` s for another command's change. */
export function changeOwnState(
  { io, paths, app }: Operation,
  change: (app: AppState) => AppState,
  wait?: number,
): AppState {
  return changeApp({ io, paths, command: 'deploy', app: app.app, wait }, change);
}

/** Ends the journal and changes nothing else. */
export function clearJournal(op: Operation): AppState {
  return changeOwnState(op, (now) => ({ ...now, deploying: null }));
}

/** Seconds that it waits for another command's change: instances may be down meanwhile. */
const WRITE_WAIT = 5;
/** Operations that have found the registry busy: they do not wait again. */
const metBusy = new WeakSet<Operation>();

function write(op: Operation, journal: Journal, wait?: number): void {
  op.journal = journal;
  changeOwnState(op, (now) => ({ ...now, deploying: now.deploying && journal }), wait);
}

function writeAnyway(op: Operation, journal: Journal): void {
  anyway(op, () => write(op, journal, metBusy.has(op) ? 0 : WRITE_WAIT));
}

/**
 * Writes how far an operation is; the instance `name` is changed from here on. A deploy that cannot write it goes no further; what an operator does
 * to an app that runs must continue.
 */
export function enterStage(
  op: Operation,
  stage: Stage,
  slot: Journal['slot'],
  name: string | undefined,
): void {
  const { journal } = op;
  if (!journal) return;
  op.clock.enter(stage);
  const { touched = [] } = journal;
  const isNew = name !== undefined && !touched.includes(name);
  if (journal.stage === stage && journal.slot === slot && !isNew) return;
  const { slot: _, ...rest } = journal;
  const next = {
    ...rest,
    stage,
    ...(slot && { slot }),
    ...(isNew && { touched: [...touched, name] }),
  };
  if (isByHand(journal)) writeAnyway(op, next);
  else write(op, next);
}

/** What an operator does to versions that are kept: it needs no disk, and must not stop for one. */
export function isByHand({ rollback, verb }: Journal): boolean {
  return rollback !== undefined || verb !== undefined;
}

/** Notes what it has put into empty places of `shared/`. */
export function noteSeed(op: Operation, seed: NonNullable<Journal['seeds']>[number]): void {
  if (op.journal) write(op, { ...op.journal, seeds: [...(op.journal.seeds ?? []), seed] });
}

/** Notes that it restores a backup of the database from here on; undefined: it is as it was. */
export function noteRestore(op: Operation, backup: string | undefined): void {
  if (!op.journal) return;
  const { database: _, ...rest } = op.journal;
  write(op, { ...rest, ...(backup !== undefined && { database: backup }) });
}

/** Records why it fails: undoing takes time, and a kill must not lose the cause. */
export function markFailed(op: Operation, error: StepFailure): void {
  const { stage, blame } = error;
  const text = op.redact(error.message).slice(0, ERROR_MAX);
  if (!op.journal) return;
  if (op.journal.touched) op.clock.enter('rollback');
  writeAnyway(op, { ...op.journal, stage: 'rollback', failed: { stage, error: text, blame } });
}

/**
 * Writes how it ended. If that fails, the journal stays: the next command finds the last event in the
 * log and corrects the state. Throws a Failure where that would not be enough.
 */
export function writeEnd(
  op: Operation,
  change: (app: AppState) => AppState,
  mustSave: boolean,
): void {
  const save = () => changeOwnState(op, change);
  if (!mustSave) {
    anyway(op, save);
    return;
  }
  const failure = failureIn(save);
  if (failure) throw new Failure(failure.code, `${failure.message}; the change was not saved`);
}

/** The secrets with which these instances are about to be started. */
export function secretsStarting(op: Operation, names: readonly string[]): void {
  const note = () => noteStarting(op, op.app.app, names, op.secrets);
  // A full disk must not prevent a rollback: an automatic one would then restore older secrets.
  if (op.journal && isByHand(op.journal)) anyway(op, note);
  else note();
}

/** The secrets with which instances were started are those that run now. */
export function secretsStarted(op: Operation): void {
  anyway(op, () => noteStarted(op, op.app.app));
}

/** An instance runs again with those that it had when the operation began. */
export function secretsBack(op: Operation, name: string): void {
  const before = { ...op.secrets, today: op.secrets.started };
  anyway(op, () => noteStarting(op, op.app.app, [name], before));
  secretsStarted(op);
}

function anyway(op: Operation, action: () => void): void {
  const failure = failureIn(action);
  if (!failure) return;
  if (failure.code === 'locked') metBusy.add(op);
  const hope = unknown.has(op) ? '' : '; the next command corrects the state';
  op.reporter.note(`${failure.message}${hope} (${failure.code})`);
}
