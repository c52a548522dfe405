/** How a rollback ends, and how one ended before. */
import { textOf } from '@runner/common/audit/record';
import type { Paths } from '@runner/common/foundation/paths';
import { recordedEnd } from '../journal/given-id.ts';

/** What `runner rollback` prints. */
export interface RollbackOutcome {
  app: string;
  /** `unchanged`: the newest deploy failed, and what was active before it still is. */
  result: 'rolled_back' | 'failed' | 'unchanged';
  /** The version that is active now; null if that is uncertain. */
  version: string | null;
  from_version: string;
  instance: string;
  /** null if nothing was done. */
  deploy_id: string | null;
  instances?: { instance: string; from_version: string; version: string }[];
  /** With `unchanged`: the version that failed. */
  failed_version?: string;
  /** With `unchanged`: what `--to` would go to; null if nothing older is kept. */
  earlier_version?: string | null;
  /** The active version was started again; nothing was switched. */
  restarted?: true;
  /** The backup of the database that was restored, its time, and the command that undoes it. */
  database?: { restored: string; at: string; undo: string };
  duration_ms: number;
  error?: string;
  /** Why the version that was active could not be restored either; the exit status is 3 then. */
  rollback_error?: string;
}

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
