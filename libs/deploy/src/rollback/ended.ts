/** The outcome of a rollback that ended before, from its records. */
import { textOf } from '@runner/common/audit/record';
import type { Paths } from '@runner/common/foundation/paths';
import { recordedEnd } from '../journal/given-id.ts';
import type { RollbackOutcome } from './outcome.ts';

/** How a rollback with the given id ended, as the log says; undefined if it is not known or still runs. */
export function rollbackInLog(
  paths: Paths,
  app: string,
  deployId: string | undefined,
): RollbackOutcome | undefined {
  const end = recordedEnd(paths, app, deployId, 'RollbackSuccess');
  if (!end) return undefined;
  const { last, isSuccess, instance, error } = end;
  const from_version = textOf(last, 'from_version');
  const rollback_error = last.rolled_back === false ? textOf(last, 'reason') : undefined;
  const failed = {
    result: 'failed' as const,
    version: rollback_error === undefined ? from_version : null,
    error,
    ...(rollback_error !== undefined && { rollback_error }),
  };
  return {
    app,
    from_version,
    instance,
    deploy_id: textOf(last, 'deploy_id'),
    duration_ms: 0,
    ...(isSuccess ? { result: 'rolled_back', version: textOf(last, 'version') } : failed),
  };
}
