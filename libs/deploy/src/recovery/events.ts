/** The events that a killed deploy or rollback did not come to write. */
import type { AppState } from '@runner/common/apps/state';
import { type DeployEvent, kindOf, type LogRecord } from '@runner/common/audit/events';
import { previousOfAll } from '../instances/job-target.ts';
import { eventOf } from '../record/job.ts';
import { type Dead, headlineOf, isEarly, type Recovery, type Returned } from './interrupted.ts';

/**
 * The failure, unless it is in the log already, then what went back: of a rollback that was killed
 * nothing went back, it only did not happen. `isNew` is false for what is only told once more.
 */
export function missingEvents(
  { io }: Recovery,
  app: AppState,
  dead: Dead,
  records: readonly LogRecord[],
  { back, problems }: Returned,
): { event: DeployEvent; isNew: boolean }[] {
  const { deploy_id: deployId, commit, version } = dead;
  const told = { io, app, deployId, commit, version, trigger: 'recovery' };
  const headline = headlineOf(dead);
  const previous = previousOfAll(app, dead.instance.split(','))?.version;
  const failure = () =>
    eventOf(told, 'DeployFailure', {
      instance: dead.instance,
      stage: dead.failed?.stage ?? dead.stage,
      error: [headline, ...problems, ...(dead.failed ? [dead.failed.error] : [])].join('\n'),
      ...(problems.length > 0 && { rolled_back: false, reason: problems.join('; ') }),
      ...(previous !== undefined && { previous_version: previous }),
      // As in every event of a rollback by hand: it is the end of no deploy.
      ...(dead.rollback && previous !== undefined && { from_version: previous }),
    });
  const isRecorded = records.some((record) => kindOf(record) === 'DeployFailure');
  const first = isRecorded ? [] : [{ event: failure(), isNew: true }];
  const isWritten = (instance: string) =>
    records.some((record) => kindOf(record) === 'RollbackSuccess' && record.instance === instance);
  const returned = back.flatMap(({ instance, to }) => {
    if (!to || dead.rollback || isWritten(instance)) return [];
    const reason = dead.failed?.error ?? headline;
    const fields = { instance, version: to.version, from_version: version, reason };
    const event = eventOf({ ...told, commit: to.commit }, 'RollbackSuccess', fields);
    return [{ event, isNew: true }];
  });
  return [...untold(dead, records), ...first, ...returned];
}

/** The last event that was recorded may not have been told: it is told before the next step begins. */
function untold(dead: Dead, [last]: readonly LogRecord[]) {
  if (!last || (kindOf(last) === 'DeployStarted' && !isEarly(dead))) return [];
  return [{ event: last as DeployEvent, isNew: false }];
}
