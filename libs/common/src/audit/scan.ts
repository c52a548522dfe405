/** Finds records in the audit log and its rotated files, newest first. */
import { join } from 'node:path';
import { escapedNameAt, LINE_MAX, linesBackward } from '../files/lines-backward.ts';
import { namesIn, readIfThere } from '../files/read.ts';
import { closing } from '../foundation/attempt.ts';
import { Failure } from '../foundation/failure.ts';
import type { Paths } from '../foundation/paths.ts';
import { timeOfIso } from '../text/time.ts';
import { gzipLines, logFiles, openLogOr, openLogs, type Unread } from './files.ts';
import { kindOf, type LogRecord, projectOf, readRecord, textOf } from './record.ts';
import { chainedLines } from './tip.ts';

/** In the line of every record that is wanted. */
const KIND = Buffer.from('"DeployFailure"');

/** Which records are wanted: failures of an app, whose name in quotes is in each line. */
interface WantedFailures {
  readonly app: Buffer;
  readonly accept: (record: LogRecord) => boolean;
}

/** The newer of two records: the later one in the log, unless their timestamps disagree. */
function younger(
  later: LogRecord | undefined,
  earlier: LogRecord | undefined,
): LogRecord | undefined {
  if (later === undefined || earlier === undefined) return later ?? earlier;
  const time = (record: LogRecord) =>
    timeOfIso(textOf(record, 'timestamp')) || Number.NEGATIVE_INFINITY;
  return time(earlier) > time(later) ? earlier : later;
}

/** Whether a record was appended when it happened, so that nothing before it is newer. */
function inTime(record: LogRecord): boolean {
  return record.late !== true;
}

/** The newest wanted record of a file, and whether no record before it can be newer. */
interface Newest {
  readonly record: LogRecord | undefined;
  readonly certain: boolean;
}

async function newestIn(
  fd: number,
  path: string,
  wanted: WantedFailures,
  unread: Unread,
): Promise<Newest> {
  if (path.endsWith('.gz')) return newestInGzip(fd, path, wanted, unread);
  let newest: LogRecord | undefined;
  const tooLong = () => {
    unread.lines += 1;
  };
  for (const { line } of linesBackward(fd, wanted.app, { also: KIND, tooLong })) {
    const record = readRecord(line);
    if (!record) unread.lines += 1;
    if (!record || !wanted.accept(record)) continue;
    newest = younger(newest, record);
    if (inTime(record)) return { record: newest, certain: true };
  }
  return { record: newest, certain: false };
}

async function newestInGzip(
  fd: number,
  path: string,
  wanted: WantedFailures,
  unread: Unread,
): Promise<Newest> {
  let newest: LogRecord | undefined;
  let certain = false;
  for await (const line of gzipLines(fd, (why) => unread.damaged(path, why))) {
    // Cheaper than parsing every line.
    const isNamed = line?.includes(wanted.app) && line.includes(KIND);
    if (line && !isNamed && escapedNameAt(line) === -1) continue;
    const record = line && readRecord(line);
    if (!record) unread.lines += 1;
    if (!record || !wanted.accept(record)) continue;
    newest = inTime(record) ? record : younger(record, newest);
    certain ||= inTime(record);
  }
  return { record: newest, certain };
}

/**
 * The newest failure of an app, from the lines `waiting` to be appended, the live log and
 * then the rotated files. A record that was appended late is compared with those before it, up to one
 * that was not, at most in the next file. `unread` collects what could not be read. Throws
 * `log_not_found` without any file, `file_unreadable` for the live log.
 */
export async function newestFailure(
  paths: Paths,
  app: string,
  unread: Unread,
  waiting: readonly string[] = [],
): Promise<LogRecord | undefined> {
  if (logFiles(paths).length + waiting.length === 0) throw logNotFound(paths);
  const wanted: WantedFailures = {
    // In quotes, since 'api' must not match 'api-2'.
    app: Buffer.from(JSON.stringify(app)),
    accept: (record) => kindOf(record) === 'DeployFailure' && projectOf(record) === app,
  };
  let newest: LogRecord | undefined;
  for (const line of waiting) {
    const record = readRecord(line);
    if (record && wanted.accept(record)) newest = younger(record, newest);
  }
  return younger(newest, await newestAppended(paths, wanted, unread));
}

export function logNotFound({ auditLog }: Paths): Failure {
  return new Failure('log_not_found', `there is no audit log yet: ${auditLog}`);
}

async function newestAppended(
  paths: Paths,
  wanted: WantedFailures,
  unread: Unread,
): Promise<LogRecord | undefined> {
  let late: LogRecord | undefined;
  for (const { fd, path } of openLogs(paths, (...file) => unread.skipped(...file))) {
    const { record, certain } = await newestIn(fd, path, wanted, unread);
    if (certain || late !== undefined) return younger(late, record);
    late = record;
  }
  return late;
}

/** The records that were appended after a time, newest first. Throws `file_unreadable` for the live log. */
export function* recordsSince(paths: Paths, time: string): Generator<LogRecord> {
  for (const line of chainedLines(paths)) {
    const record = readRecord(line) ?? {};
    if (inTime(record) && textOf(record, 'timestamp') <= time) return;
    yield record;
  }
}

/** Number of records that a start has: one for each instance, or as of 0.1.0 one for all. */
function startsOf(record: LogRecord): number {
  return Array.isArray(record.instances) ? record.instances.length : 1;
}

/** The events of a deploy, newest first, from files of the spool, the live log and the last rotated file. */
export function eventsOfDeploy(
  paths: Paths,
  deployId: string,
  spool: readonly string[] = namesIn(paths.auditSpool).map((name) => join(paths.auditSpool, name)),
): LogRecord[] {
  const found: LogRecord[] = [];
  const take = (line: Uint8Array | undefined) => {
    const record = line && readRecord(line);
    if (record?.deploy_id === deployId) found.push(record);
  };
  const waiting = spool.filter((each) => each.includes(`-${deployId}-`));
  for (const path of waiting.reverse()) take(readIfThere(path, LINE_MAX));
  const plain = logFiles(paths).filter((path) => !path.endsWith('.gz'));
  for (const path of plain.slice(0, 2)) {
    const fd = openLogOr(paths, path, () => {});
    if (fd === undefined) continue;
    using _file = closing(fd);
    for (const { line } of linesBackward(fd, Buffer.from(JSON.stringify(deployId)))) {
      take(line);
      const starts = found.filter((record) => kindOf(record) === 'DeployStarted');
      if (starts[0] && starts.length >= startsOf(starts[0])) return found;
    }
  }
  return found;
}
