/** Reads deploys from the audit log of this server, or from records in a pipe. */

import { runningDeploy } from '@runner/common/apps/state-word';
import { findApp, requireApp } from '@runner/common/apps/store';
import { logFiles, Unread } from '@runner/common/audit/files';
import { appendWaiting } from '@runner/common/audit/kept';
import { projectOf, readRecord, textOf } from '@runner/common/audit/record';
import { unlessFailure } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import type { InputStream } from '@runner/common/foundation/io';
import { isAppName, previewedApp } from '@runner/common/foundation/names';
import type { Paths } from '@runner/common/foundation/paths';
import type { JsonObject } from '@runner/common/text/json';
import { timeOfIso } from '@runner/common/text/time';
import { allRecords, newestRecords, type Sources } from '../log/filter.ts';
import { closeLogs, linesOf, openLogs } from '../log/lines.ts';
import { pipedRecords } from '../log/piped.ts';
import type { PastDeploy } from './deploy.ts';
import { Deploys } from './fold.ts';

/** Which deploys are wanted, and where their records are. */
export interface DeploysRequest {
  readonly paths: Paths;
  /** Undefined: all apps. */
  readonly project?: string | undefined;
  /** A stream of records, instead of the log. */
  readonly input?: InputStream | undefined;
  /** Only the newest deploys are wanted, so that the log is not read to its beginning. */
  readonly last?: number | undefined;
  /** The period begins then, in ms since 1970: it is reported if rotation has removed a part of it. */
  readonly since?: number | undefined;
  /** Reports what could not be read. */
  note(text: string): void;
}

/** Records that are read back for each deploy that is wanted, and in any case. */
const WINDOW = { each: 16, least: 2_000 } as const;
/** More than this are not read back: the records would fill the memory. */
const LAST_MAX = 5_000;
/** The first records of a window may belong to deploys that began before it. */
const CUT = 200;

/**
 * All deploys, or at least the newest `last`, oldest first; none without an audit log. Throws
 * `file_unreadable`, `app_not_found` for an app that is not registered and has no deploys in the log, and
 * of an input `app_not_found` and `event_invalid`.
 */
export async function readDeploys(request: DeploysRequest): Promise<readonly PastDeploy[]> {
  const { paths, project, input } = request;
  const all = (await newestDeploys(request)) ?? (await allDeploys(request));
  if (!input && project !== undefined && all.length === 0) requireRegistered(paths, project);
  settle(paths, all);
  return all;
}

async function allDeploys(request: DeploysRequest): Promise<readonly PastDeploy[]> {
  const { paths, project, input, note } = request;
  const unread = new Unread();
  const deploys = new Deploys();
  const filter = { project };
  const { sources, close } = input ? NOTHING : openSources(paths, unread);
  const blocks = input ? pipedRecords(input, filter, unread) : allRecords(sources, filter, unread);
  try {
    await noteRotated(sources, request);
    for await (const records of blocks)
      for (const record of records) if (counts(record, project)) deploys.add(record);
  } finally {
    close();
  }
  unread.report(note);
  return deploys.all;
}

/**
 * The newest deploys, from the end of the log. Undefined if only the whole log can say which they are:
 * the beginning of one of them is further back, or was never recorded.
 */
async function newestDeploys(request: DeploysRequest): Promise<readonly PastDeploy[] | undefined> {
  const { paths, project, input, last, note } = request;
  if (input || last === undefined || last > LAST_MAX) return undefined;
  const size = WINDOW.least + WINDOW.each * last;
  const unread = new Unread();
  const { sources, close } = openSources(paths, unread);
  const records = await newestRecords(sources, { project }, size, unread).finally(close);
  const deploys = new Deploys();
  let cut = 0;
  for (const [index, record] of records.entries()) {
    if (counts(record, project)) deploys.add(record);
    if (index < CUT) cut = deploys.all.length;
  }
  const found = deploys.all.slice(
    records.length < size ? 0 : Math.max(cut, deploys.all.length - last),
  );
  const isKnown = found.length >= last && !found.some((deploy) => deploys.unstarted.has(deploy));
  if (records.length === size && !isKnown) return undefined;
  unread.report(note);
  return found;
}

/** Without this, figures of a month would be those of the days that are left. */
async function noteRotated({ logs: [oldest] }: Sources, { since, note }: DeploysRequest) {
  if (!oldest || since === undefined) return;
  for await (const [line] of linesOf(oldest, () => {})) {
    const record = line && readRecord(line);
    const begin = record && textOf(record, 'timestamp');
    if (begin && Number(record.seq) > 1 && timeOfIso(begin) > since)
      note(`the audit log begins at ${begin}: rotation has removed what was before`);
    return;
  }
}

/** Previews count only where one is asked for: they say nothing of how an app is deployed. */
function counts(record: JsonObject, project: string | undefined): boolean {
  return project !== undefined || previewedApp(String(projectOf(record))) === undefined;
}

/** The open log, and the events that wait for it; `close` closes it. */
type OpenSources = ReturnType<typeof openSources>;

const NOTHING: OpenSources = { sources: { logs: [], waiting: [] }, close: () => {} };

function openSources(paths: Paths, unread: Unread) {
  const waiting = appendWaiting(paths);
  const none = logFiles(paths).length === 0;
  const logs = none ? [] : openLogs(paths, (path, why) => unread.skipped(path, why));
  return { sources: { logs, waiting }, close: () => closeLogs(logs) };
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
  // Whom the lock is closed to may see this.
  const app = unlessFailure(() => findApp(paths, project), undefined);
  return app !== undefined && runningDeploy(app)?.deploy_id === deploy_id;
}
