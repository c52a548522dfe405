/** The events that a killed deploy or rollback did not get to write. */
import type { Deploying } from '@runner/common/apps/state';
import { type DeployEvent, kindOf, type LogRecord } from '@runner/common/audit/events';
import { previousOfAll } from '../instances/target.ts';
import { eventOf, rolledBackEvent } from '../record/events.ts';
import { type Operation, problemsOf } from '../record/operation.ts';
import { headlineOf, isEarly } from './interrupted.ts';
import type { RestoredMove } from './restore.ts';

/** The failure, and each instance that was restored, unless they are in the log already. */
export function missingEvents(
  { io, app, redact }: Operation,
  dead: Deploying,
  records: readonly LogRecord[],
  moves: readonly RestoredMove[],
): DeployEvent[] {
  const { deploy_id: deployId, commit, version, failed } = dead;
  const origin = { io, app, redact, deployId, commit, version, trigger: 'recovery' };
  const isRecorded = (kind: string, instance?: string) =>
    records.some(
      (record) =>
        kindOf(record) === kind && (instance === undefined || record.instance === instance),
    );
  const failure = isRecorded('DeployFailure')
    ? []
    : [eventOf(origin, 'DeployFailure', failureFields(app, dead, moves))];
  // A killed rollback by hand has nothing to report as restored: it never happened.
  const restored = moves.flatMap((move) => {
    const { instance, to, problem, wasSwitched } = move;
    if (!to || problem !== undefined || !wasSwitched || dead.rollback) return [];
    if (isRecorded('RollbackSuccess', instance)) return [];
    return [rolledBackEvent(origin, { ...move, to }, failed?.error ?? headlineOf(dead))];
  });
  return [...failure, ...restored];
}

function failureFields(app: Operation['app'], dead: Deploying, moves: readonly RestoredMove[]) {
  const { failed, instance } = dead;
  const problems = problemsOf(moves, 'rollback');
  const previous = previousOfAll(app, instance.split(','))?.version;
  return {
    instance,
    stage: failed?.stage ?? dead.stage,
    error: [headlineOf(dead), ...problems, ...(failed ? [failed.error] : [])].join('\n'),
    ...(problems.length > 0
      ? { rolled_back: false, reason: problems.join('; ') }
      : !dead.rollback &&
        moves.some(({ to, wasSwitched }) => to && wasSwitched) && { rolled_back: true }),
    ...(previous !== undefined && { previous_version: previous }),
    // As in every event of a rollback by hand: it does not end a deploy.
    ...(dead.rollback && previous !== undefined && { from_version: previous }),
  };
}

/** The last recorded event may not have been sent: each event is sent before the next step begins. */
export function unsentEvents(dead: Deploying, [last]: readonly LogRecord[]): DeployEvent[] {
  if (!last || (kindOf(last) === 'DeployStarted' && !isEarly(dead))) return [];
  return [last as DeployEvent];
}
