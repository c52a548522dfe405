/** Reads deploys from the audit log of this server, or from records in a pipe. */

import { requireApp } from '@runner/common/apps/store';
import { logFiles, Unread } from '@runner/common/audit/files';
import { appendWaiting } from '@runner/common/audit/kept';
import type { LogRecord } from '@runner/common/audit/record';
import { liveHolder } from '@runner/common/files/lock';
import { Failure } from '@runner/common/foundation/failure';
import type { InputStream } from '@runner/common/foundation/io';
import { isAppName } from '@runner/common/foundation/names';
import type { Paths } from '@runner/common/foundation/paths';
import { allRecords, streamedRecords } from '../log/filter.ts';
import { closeLogs, openLogs } from '../log/lines.ts';
import type { PastDeploy } from './deploy.ts';
import { Deploys } from './fold.ts';

/** Which deploys are wanted, and where their records are. */
export interface DeploysRequest {
  readonly paths: Paths;
  /** Undefined: all apps. */
  readonly project?: string | undefined;
  /** A stream of records, instead of the log. */
  readonly input?: InputStream | undefined;
  /** Reports what could not be read. */
  note(text: string): void;
}

/**
 * All deploys, oldest first; none without an audit log. Throws `file_unreadable`, and `app_not_found`
 * for an app that is not registered and has no deploys in the log.
 */
export async function readDeploys(request: DeploysRequest): Promise<PastDeploy[]> {
  const { paths, project, input, note } = request;
  const unread = new Unread();
  const deploys = new Deploys();
  const blocks = input
    ? streamedRecords(input, { project }, unread)
    : loggedRecords(request, unread);
  for await (const records of blocks) for (const record of records) deploys.add(record);
  unread.report(note);
  if (!input && project !== undefined && deploys.all.length === 0)
    requireRegistered(paths, project);
  settle(paths, deploys.all);
  return deploys.all;
}

async function* loggedRecords(
  { paths, project }: DeploysRequest,
  unread: Unread,
): AsyncGenerator<LogRecord[]> {
  const waiting = appendWaiting(paths);
  const none = logFiles(paths).length === 0;
  const logs = none ? [] : openLogs(paths, (path, why) => unread.skipped(path, why));
  try {
    yield* allRecords({ logs, waiting }, { project }, unread);
  } finally {
    closeLogs(logs);
  }
}

function requireRegistered(paths: Paths, project: string): void {
  try {
    requireApp(paths, project);
  } catch (error) {
    // Read access to the log is enough: the registry may be unreadable or damaged.
    if (error instanceof Failure && error.code === 'app_not_found') throw error;
  }
}

/** A deploy of runner without an end is running or was killed. Another tool need not record the end. */
function settle(paths: Paths, deploys: readonly PastDeploy[]): void {
  for (const deploy of deploys)
    if (deploy.result === 'unknown' && deploy.source === null)
      deploy.result = isRunning(paths, deploy) ? 'running' : 'interrupted';
}

function isRunning(paths: Paths, { project, deploy_id }: PastDeploy): boolean {
  if (deploy_id === null || !isAppName(project)) return false;
  return liveHolder(paths.lock(project))?.deploy_id === deploy_id;
}
