/** The events that a killed deploy or rollback did not get to write. */
import type { Deploying } from '@runner/common/apps/state';
import type { DeployEvent } from '@runner/common/audit/events';
import { kindOf, type LogRecord, textOf } from '@runner/common/audit/record';
import { fileOfRelease } from '../instances/kept-file.ts';
import { previousOfAll } from '../instances/target.ts';
import { eventsOf, rolledBackEvents } from '../journal/events.ts';
import { isBack, type Operation, problemsOf } from '../journal/operation.ts';
import { headlineOf, isEarly } from './interrupted.ts';
import type { RestoredMove } from './restore.ts';

/** The failure, and each instance that was restored, unless they are in the log already. */
export function missingEvents(
  { io, paths, app, redact }: Operation,
  dead: Deploying,
  records: readonly LogRecord[],
  moves: readonly RestoredMove[],
): DeployEvent[] {
  const { deploy_id: deployId, commit, version, failed } = dead;
  const origin = { io, app, redact, deployId, commit, version, trigger: 'recovery' };
  const begun = dead.user === undefined ? {} : { user: dead.user };
  const isRecorded = (kind: string, instance: string) =>
    records.some(
      (record) =>
        kindOf(record) === kind &&
        // As of 0.1.0 one failure stands for all instances.
        (record.instance === instance || (kind === 'DeployFailure' && !record.instances)),
    );
  const failures = eventsOf(
    origin,
    'DeployFailure',
    dead.instance.split(','),
    undefined,
    (instance) => ({
      ...failureFields(app, dead, moves, instance),
      ...begun,
      ...startOf(records, instance),
    }),
  ).filter(({ instance }) => !isRecorded('DeployFailure', instance));
  // A killed manual rollback has nothing to report as restored: it never happened.
  const back = dead.rollback ? [] : moves.filter(isBack).filter(({ wasSwitched }) => wasSwitched);
  const restored = rolledBackEvents(origin, back, ({ to }) => ({
    file: fileOfRelease(paths, app.app, to),
    reason: failed?.error ?? headlineOf(dead),
    more: begun,
  })).filter(({ instance }) => !isRecorded('RollbackSuccess', instance));
  return [...failures, ...restored];
}

/** What the start of a deploy said of an instance. */
export function startOf(records: readonly LogRecord[], instance: string): Partial<DeployEvent> {
  const start = records.find(
    (record) => kindOf(record) === 'DeployStarted' && record.instance === instance,
  );
  const known = ['domain', 'subject', 'author', 'previous_version'].map((field) => [
    field,
    start && textOf(start, field),
  ]);
  return Object.fromEntries(known.filter(([, value]) => value));
}

function failureFields(
  app: Operation['app'],
  dead: Deploying,
  moves: readonly RestoredMove[],
  instance: string,
) {
  const { failed } = dead;
  const problems = problemsOf(moves, 'rollback');
  const previous = previousOfAll(app, [instance])?.version;
  return {
    stage: failed?.stage ?? dead.stage,
    error: [headlineOf(dead), ...problems, ...(failed ? [failed.error] : [])].join('\n'),
    ...(problems.length > 0
      ? { rolled_back: false, reason: problems.join('; ') }
      : !dead.rollback &&
        moves.some(({ to, wasSwitched }) => to && wasSwitched) && { rolled_back: true }),
    ...(!failed && { interrupted: true }),
    ...(previous !== undefined && { previous_version: previous }),
    // As in every event of a manual rollback: it does not end a deploy.
    ...(dead.rollback && previous !== undefined && { from_version: previous }),
  };
}

/** The last recorded event may not have been sent: each event is sent before the next step begins. */
export function unsentEvents(dead: Deploying, records: readonly LogRecord[]): DeployEvent[] {
  const [last] = records;
  if (!last || (kindOf(last) === 'DeployStarted' && !isEarly(dead))) return [];
  return eventsLike(last, records);
}

/** The records of one event, which has one for each instance; `records` begin with the newest. */
export function eventsLike(one: LogRecord, records: readonly LogRecord[]): DeployEvent[] {
  const wayOf = (record: LogRecord) => JSON.stringify([kindOf(record), record.instances]);
  // As of 0.1.0 one record stands for all instances.
  const same = records.filter((record) =>
    Array.isArray(one.instances) ? wayOf(record) === wayOf(one) : record === one,
  );
  return same.reverse() as DeployEvent[];
}
