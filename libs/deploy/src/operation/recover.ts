/**
 * What an operation whose process died has left: if it had arrived, its success is recorded, otherwise
 * what it did is undone and its failure is recorded. The way back of a watch is finished.
 */

import type { ChangeSummary } from '@runner/common/apps/deployed';
import { listPlans } from '@runner/common/apps/plans';
import { operationWord } from '@runner/common/apps/progress';
import type { AppState } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import type { DeployEvent } from '@runner/common/audit/events';
import { kindOf, type LogRecord, textOf } from '@runner/common/audit/record';
import { eventsOfDeploy } from '@runner/common/audit/scan';
import { isChannelList } from '@runner/common/config/channels';
import type { NotifyChoice } from '@runner/common/deploy-file/read';
import { approvalFields } from '../approval/admit.ts';
import { activeRelease } from '../instances/current-link.ts';
import { fileOfRelease } from '../instances/kept-file.ts';
import { stopRemoved } from '../instances/stop.ts';
import { activeFile } from '../instances/target.ts';
import { recordedMoves } from '../journal/after-rollback.ts';
import { leaving } from '../journal/after-success.ts';
import { StageClock } from '../journal/clock.ts';
import { clearJournal } from '../journal/journal.ts';
import { type Deploy, type Journal, type Operation, uninterrupted } from '../journal/operation.ts';
import { noteUnusual } from '../proxy/mark.ts';
import { slotReleases } from '../release/folder.ts';
import { startNotifier } from '../report/notifier.ts';
import { openDeployLog } from '../run/log.ts';
import { endDeploy, endHooks } from '../run/processes.ts';
import { StepFailure } from '../run/step.ts';
import { hasArrived, liveReleases } from './arrived.ts';
import { conclude, type OperationEnding } from './conclude.ts';
import { deployFailed, deploySucceeded, rollbackFailed, rollbackSucceeded } from './endings.ts';
import { finishVerb } from './finish-verb.ts';
import { finishWayBack, wayBackReason } from './finish-way-back.ts';
import { undo } from './undo.ts';

interface Dead {
  readonly op: Deploy;
  readonly journal: Journal;
  /** In the audit log, the newest first. */
  readonly records: readonly LogRecord[];
}

/** Called under the app's lock. Returns the app as it is now. */
export async function recover(op: Operation): Promise<AppState> {
  const { paths, app } = op;
  const journal = app.deploying;
  // What comes after the end is in no journal.
  endHooks(paths.app(app.app).dir);
  if (!journal) return app;
  const records = eventsOfDeploy(paths, journal.deploy_id);
  const dead = { op: deployOf(op, journal, records), journal, records };
  try {
    return await recoverFrom(dead);
  } finally {
    dead.op.log.close();
    for (const line of await dead.op.notifier.finish()) op.reporter.note(line);
  }
}

async function recoverFrom(dead: Dead): Promise<AppState> {
  const { op, journal, records } = dead;
  const { paths, app } = op;
  if (journal.verb) return finishVerb(op, journal.verb, journal);
  // Its success is in the log, and its version died later.
  if (journal.failed?.stage === 'drain') return failed(dead);
  const kind = journal.rollback ? 'RollbackSuccess' : 'DeploySuccess';
  if (records.some((record) => kindOf(record) === kind)) return succeeded(dead);
  const live = liveReleases(op);
  if (live.size > 0 && (await hasArrived(op, journal))) {
    interruptedNote(dead, `, after the switch: ${op.version} is healthy and stays`);
    return succeeded(dead);
  }
  // What is in a slot may get requests, and ends once they are taken back; a command of it is to do nothing more.
  const held = slotReleases(app);
  const isLeft = (release: string, isStep: boolean) =>
    !live.has(release) && (isStep || !held.has(release));
  endDeploy(paths.app(app.app).dir, op.deployId, isLeft);
  // Killed before its start was recorded: nothing had been done.
  const isUnrecorded = !journal.rollback && records.length === 0;
  if (isUnrecorded && isEarly(journal)) return clearJournal(op);
  if (journal.failed || wayBackReason(op) === undefined) return failed(dead);
  interruptedNote(dead, ': finishing it');
  const left = await finishWayBack(op, journal);
  return left ? failed({ ...dead, journal: left }) : succeeded(dead);
}

function interruptedNote({ op, journal }: Dead, what: string): void {
  const during = `was interrupted during ${journal.stage}`;
  op.reporter.note(`${operationWord(journal)} ${op.deployId} ${during}${what}`);
}

function deployOf(op: Operation, journal: Journal, records: readonly LogRecord[]): Deploy {
  const { io, paths, app, redact } = op;
  const { deploy_id: deployId, commit, version, user, passed_over, returns = false } = journal;
  const start = records.find((record) => kindOf(record) === 'DeployStarted');
  const log = openDeployLog({ paths, app: app.app, deployId, redact, onOutput: () => {} });
  const { subject, author, changes, signed_by, rewrite_of, emergency } = (start ??
    {}) as Partial<DeployEvent>;
  const none: ChangeSummary = { count: null, subjects: [], authors: [] };
  return {
    ...uninterrupted(op),
    deployId,
    commit,
    version,
    returns,
    isOperators: journal.deploy_file === 'operator',
    log,
    trigger: 'recovery',
    user: user ?? op.user,
    clock: new StageClock(io, Math.max(0, io.now().getTime() - Date.parse(journal.started))),
    notifier: startNotifier(io, paths.root, journal.verb ? 'none' : channelsOf(op, journal)),
    instances: journal.instance.split(','),
    skippedHead: passed_over,
    // Absent in a journal of an older version.
    partial: journal.partial ?? passed_over !== undefined,
    about: {
      ...(subject !== undefined && { subject }),
      ...(author !== undefined && { author }),
      ...(signed_by && { signed_by }),
      ...(rewrite_of !== undefined && { rewrite_of }),
    },
    changes: changes ?? none,
    approval: approvalOf(paths, deployId) ?? (emergency === undefined ? undefined : { emergency }),
  };
}

function approvalOf(paths: Operation['paths'], deployId: string): Operation['approval'] {
  const applied = listPlans(paths).find((each) => each.applied?.deploy_id === deployId);
  return applied && approvalFields(applied);
}

/** The channels it had chosen, else those of the active release, else all. */
export function channelsOf(
  { paths, app }: Operation,
  { notify }: Partial<Journal> = {},
): NotifyChoice | undefined {
  if (notify !== undefined && isChannelList(notify)) return notify;
  return activeFile(paths, app)?.notify;
}

/** Its success is recorded, or it has arrived: every instance runs its version. */
async function succeeded({ op, journal, records }: Dead): Promise<AppState> {
  const { paths, app, instances } = op;
  if (journal.rollback) {
    const reason = wayBackReason(op);
    const trigger = reason === undefined ? 'manual' : 'watch';
    const moves = recordedMoves(app);
    const [{ from } = {}] = moves;
    if (from) await noteUnusual(op, from.mark, fileOfRelease(paths, app.app, from));
    conclude(op, rollbackSucceeded({ ...op, trigger }, moves, { ...journal, reason }), records);
    return requireApp(paths, app.app);
  }
  const release = activeRelease(paths, app.app, instances[0] as string);
  if (release === undefined) return clearJournal(op);
  const file = fileOfRelease(paths, app.app, { release, commit: op.commit });
  const isKnown = instances.every(
    (name) => app.instances[name]?.current?.deploy_id === journal.deploy_id,
  );
  if (!file) return clearJournal(op);
  if (!isKnown) conclude(op, deploySucceeded(op, { file, release }), records);
  return stopRemoved(op, leaving(app, instances, op));
}

async function failed(dead: Dead): Promise<AppState> {
  const { op, journal, records } = dead;
  const headline = `${operationWord(journal)} interrupted during ${journal.stage}`;
  op.log.line(headline);
  interruptedNote(dead, ': cleaning up');
  const moves = await undo(op, journal);
  // The last recorded event may not have been sent: each is sent before the next step begins.
  const [last] = records;
  if (last && (kindOf(last) !== 'DeployStarted' || isEarly(journal)))
    for (const event of eventsLike(last, records)) op.notifier.send(event);
  const facts = { ...failureOfDead(dead, headline), moves, reason: journal.failed?.error };
  const known = (instance: string) => domainOf(records, instance);
  const ending: OperationEnding = journal.rollback
    ? rollbackFailed(op, facts)
    : deployFailed(op, { ...facts, known });
  conclude(op, ending, records);
  return requireApp(op.paths, op.app.app);
}

/** Whether it was killed in a stage in which its start is recorded and announced. */
function isEarly({ stage }: Journal): boolean {
  return stage === 'config' || stage === 'export';
}

/** The failure as it was recorded or noted before the kill, or the kill itself. */
function failureOfDead({ op, journal: { failed, stage }, records }: Dead, headline: string) {
  const record = records.find((each) => kindOf(each) === 'DeployFailure');
  const at = (record ? textOf(record, 'stage') : (failed?.stage ?? stage)) as StepFailure['stage'];
  // A kill is not the commit's fault; what failed before it may be.
  const blame = failed?.blame === 'commit' ? 'commit' : 'operator';
  const error = record
    ? new StepFailure(at, textOf(record, 'error'), { blame })
    : new StepFailure(at, op.redact(headline), { blame, output: failed?.error });
  return { error, isInterrupted: record ? record.interrupted === true : !failed };
}

function domainOf(records: readonly LogRecord[], instance: string): Partial<DeployEvent> {
  const start = records.find(
    (record) => kindOf(record) === 'DeployStarted' && record.instance === instance,
  );
  const domain = start ? textOf(start, 'domain') : '';
  return domain === '' ? {} : { domain };
}

/** The records of one event, which has one for each instance; `records` begin with the newest. */
function eventsLike(one: LogRecord, records: readonly LogRecord[]): DeployEvent[] {
  const wayOf = (record: LogRecord) => JSON.stringify([kindOf(record), record.instances]);
  // As of 0.1.0 one record stands for all instances.
  const same = records.filter((record) =>
    Array.isArray(one.instances) ? wayOf(record) === wayOf(one) : record === one,
  );
  return same.reverse() as DeployEvent[];
}
