/** The newest DeployFailure of an app. */
import { requireApp } from '@runner/common/apps';
import { appendWaiting } from '@runner/common/audit';
import { newestRecord } from '@runner/common/audit-scan';
import { textOf } from '@runner/common/events';
import type { Paths } from '@runner/common/paths';
import { redactor } from '@runner/common/secret';

/** What `last-error` prints. */
export interface LastError {
  app: string;
  version: string;
  /** ISO 8601 UTC. */
  timestamp: string;
  error: string;
  event: 'DeployFailure';
}

/** Null when there is no failure on record. Throws `app_not_found`, then `log_not_found`. */
export async function findLastError(paths: Paths, name: string): Promise<LastError | null> {
  const { app } = requireApp(paths, name);
  appendWaiting(paths);
  const record = await newestRecord(paths, 'DeployFailure', app);
  if (!record) return null;
  return {
    app,
    version: textOf(record, 'version'),
    timestamp: textOf(record, 'timestamp'),
    error: redactor()(textOf(record, 'error')),
    event: 'DeployFailure',
  };
}
