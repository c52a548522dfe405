/** Reads the deploys of this server from its audit log. */

import { requireApp } from '@runner/common/apps/store';
import { logFiles, Unread } from '@runner/common/audit/files';
import { appendWaiting } from '@runner/common/audit/kept';
import { liveHolder } from '@runner/common/files/lock';
import { Failure } from '@runner/common/foundation/failure';
import { isAppName } from '@runner/common/foundation/names';
import type { Paths } from '@runner/common/foundation/paths';
import { allRecords } from '../log/filter.ts';
import { closeLogs, openLogs } from '../log/lines.ts';
import type { PastDeploy } from './deploy.ts';
import { Deploys } from './fold.ts';

/**
 * All deploys (of `project`), oldest first; none without an audit log. `note` reports what could not be read. Throws
 * `file_unreadable`, and `app_not_found` for an app that is not registered and has no deploys.
 */
export async function readDeploys(
  paths: Paths,
  project: string | undefined,
  note: (text: string) => void,
): Promise<PastDeploy[]> {
  const unread = new Unread();
  const waiting = appendWaiting(paths);
  const none = logFiles(paths).length === 0;
  const logs = none ? [] : openLogs(paths, (path, why) => unread.skipped(path, why));
  const deploys = new Deploys();
  try {
    for await (const records of allRecords({ logs, waiting }, { project }, unread))
      for (const record of records) deploys.add(record);
  } finally {
    closeLogs(logs);
  }
  unread.report(note);
  if (project !== undefined && deploys.all.length === 0) requireRegistered(paths, project);
  settle(paths, deploys.all);
  return deploys.all;
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
