/** The outcome of a deploy that ended before, from its records. */
import { textOf } from '@runner/common/audit/record';
import type { Paths } from '@runner/common/foundation/paths';
import { recordedEnd } from '../journal/given-id.ts';
import type { DeployOutcome } from './outcome.ts';

/** How a deploy with the given id ended, as the log says; undefined if it is not known or still runs. */
export function deployInLog(
  paths: Paths,
  app: string,
  deployId: string | undefined,
): DeployOutcome | undefined {
  const end = recordedEnd(paths, app, deployId, 'DeploySuccess');
  if (!end) return undefined;
  const { last, isSuccess, isRolledBack, instance, error } = end;
  const text = (field: string) => textOf(last, field);
  const version = text('version');
  const previous_version = text('previous_version') || null;
  const rollback_error = last.rolled_back === false ? text('reason') : undefined;
  const failed = {
    result: isRolledBack ? ('rolled_back' as const) : ('failed' as const),
    active_version: rollback_error === undefined ? previous_version : null,
    stage: text('stage'),
    error,
    ...(text('cause') !== '' && { cause: text('cause') }),
    ...(rollback_error !== undefined && { rollback_error }),
    ...(last.interrupted === true && { interrupted: true }),
  };
  return {
    app,
    version,
    commit: text('commit'),
    deploy_id: text('deploy_id'),
    instance,
    previous_version,
    duration_ms: Number(last.duration_ms ?? 0),
    log: paths.deployLog(app, text('deploy_id')),
    ...(isSuccess ? { result: 'deployed', active_version: version } : failed),
  };
}
