/** The kept log of a deploy, and what the audit log says about that deploy. */

import { fstatSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { requireApp } from '@runner/common/apps/store';
import { openLog, Unread } from '@runner/common/audit/files';
import { waitingLines } from '@runner/common/audit/kept';
import { kindOf, projectOf, textOf } from '@runner/common/audit/record';
import { eventsOfDeploy, newestFailure } from '@runner/common/audit/scan';
import { namesIn } from '@runner/common/files/read';
import { orElse } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import { withPictures } from '@runner/common/text/pictures';
import { inUtc } from '@runner/common/text/time';
import { listed } from '@runner/common/text/words';

/** The kept log of a deploy, opened. */
export type KeptLog = Awaited<ReturnType<typeof openKeptLog>>;

const ENDS = ['DeploySuccess', 'DeployFailure'];
/** How many logs an error names at most. */
const NAMED = 5;

/**
 * Opens the log of the deploy with this ID or beginning of one; without it, of the newest failure, or of the newest
 * deploy if the app never failed. Throws `app_not_found`, `deploy_not_found`,
 * `log_not_found`, `file_unreadable`.
 */
export async function openKeptLog(paths: Paths, name: string, asked: string | undefined) {
  const { app } = requireApp(paths, name);
  const kept = keptIds(paths, app);
  const deployId =
    asked === undefined ? ((await failedLast(paths, app)) ?? kept[0]) : wholeId(app, asked, kept);
  if (deployId === undefined) {
    throw new Failure('log_not_found', `no log of a deploy of '${app}' is kept on this server yet`);
  }
  const events = eventsOfDeploy(paths, deployId).filter((each) => projectOf(each) === app);
  const of = (kinds: readonly string[]) =>
    events.find((each) => kinds.includes(String(kindOf(each))));
  // A rollback stands after the end of its deploy, and names the version that it restored.
  const own = of(ENDS) ?? of(['DeployStarted', 'RollbackSuccess']);
  if (own && textOf(own, 'stage') === 'fetch' && !textOf(own, 'log'))
    throw withoutLog(app, deployId);
  if (!kept.includes(deployId)) throw absent(app, deployId, own !== undefined, kept);
  const path = paths.deployLog(app, deployId);
  const fd = openLog(path);
  if (fd === undefined) throw absent(app, deployId, true, kept);
  const kind = own && kindOf(own) !== 'DeployStarted' ? kindOf(own) : null;
  const text = (field: string) => (own && textOf(own, field)) || null;
  const time = text('timestamp');
  return {
    app,
    deployId,
    path,
    /** Descriptor; the caller closes it. */
    fd,
    /** Bytes when it was opened: a running deploy keeps writing. */
    size: fstatSync(fd).size,
    /** How the deploy, or the rollback by hand, ended; null while it runs, or without a record. */
    event: kind as 'DeploySuccess' | 'DeployFailure' | 'RollbackSuccess' | null,
    version: text('version'),
    timestamp: time === null ? null : inUtc(time),
    stage: kind === 'DeployFailure' ? text('stage') : null,
    /** The line of the log that names the failure; null unless the deploy failed. */
    headline:
      kind === 'DeployFailure' ? withPictures(text('error')?.split('\n')[0] ?? '') || null : null,
  };
}

/** The kept ID that begins with `asked`; `asked` itself when there is none. */
function wholeId(app: string, asked: string, kept: readonly string[]): string {
  const found = kept.filter((id) => asked !== '' && id.startsWith(asked));
  if (found.length <= 1 || found.includes(asked)) return found.length === 1 ? `${found[0]}` : asked;
  const some = found.slice(0, NAMED).join(', ');
  throw new Failure('deploy_not_found', `several deploys of '${app}' begin with ${asked}: ${some}`);
}

/** IDs of the deploys whose logs are kept, newest first. */
function keptIds(paths: Paths, app: string): string[] {
  const folder = paths.deployLogs(app);
  const age = (name: string) => orElse(() => statSync(join(folder, name)).mtimeMs, 0);
  return namesIn(folder)
    .filter((name) => name.endsWith('.log') && !name.startsWith('.'))
    .map((name) => ({ id: basename(name, '.log'), time: age(name) }))
    .sort((a, b) => b.time - a.time)
    .map(({ id }) => id);
}

async function failedLast(paths: Paths, app: string): Promise<string | undefined> {
  try {
    const record = await newestFailure(paths, app, new Unread(), waitingLines(paths));
    return (record && textOf(record, 'deploy_id')) || undefined;
  } catch (error) {
    if (error instanceof Failure && error.code === 'log_not_found') return undefined;
    throw error;
  }
}

/** The commit was never fetched, so no step has run. */
function withoutLog(app: string, deployId: string): Failure {
  const message = `deploy ${deployId} of '${app}' failed at fetch and has no log; see: runner debug last-error ${app}`;
  return new Failure('log_not_found', message);
}

function absent(app: string, deployId: string, known: boolean, kept: readonly string[]): Failure {
  const shown = deployId.length > 40 ? `${deployId.slice(0, 39)}…` : deployId;
  const others =
    kept.length === 0 ? 'no log of this app is kept' : `kept are ${listed(kept, NAMED)}`;
  return known
    ? new Failure('log_not_found', `the log of deploy ${shown} of '${app}' is not kept; ${others}`)
    : new Failure('deploy_not_found', `'${app}' has no deploy '${shown}'; ${others}`);
}
