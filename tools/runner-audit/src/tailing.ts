/** The newest records of the log, and those that come after them. */
import { closeSync, fstatSync, statSync } from 'node:fs';
import { appendWaiting, waitingNote } from '@runner/common/audit/append';
import { readRecord } from '@runner/common/audit/events';
import { logFiles, openLog, Unread } from '@runner/common/audit/files';
import type { Context } from '@runner/common/cli/command';
import { LINE_MAX, lineStart } from '@runner/common/files/lines-backward';
import { isThere, readRange } from '@runner/common/files/read';
import { Failure, signalStatus } from '@runner/common/foundation/failure';
import { RecordCleaner } from '@runner/common/redaction/redact';
import { closeLogs, type OpenLog, openLogs } from './log-lines.ts';
import { EVERYTHING, newestChosen } from './selecting.ts';

type TailContext = Pick<Context, 'io' | 'paths' | 'print' | 'note'>;

/** How often a followed log is looked at, in milliseconds. */
const POLL = 200;
const BLOCK = 262_144;
const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);

/** Prints the newest `count` records and, with `follow`, all later ones until a signal comes. */
export async function printTail(
  context: TailContext,
  count: number,
  follow: boolean,
): Promise<number> {
  const unread = new Unread();
  const left = appendWaiting(context.paths);
  // Who follows sees them when they are appended.
  const waiting = follow ? [] : left;
  const logs = openedLogs(context, follow, unread);
  const live = logs.find((log) => log.live);
  const size = live === undefined ? 0 : fstatSync(live.fd).size;
  // A line that is still being written belongs to what follows.
  const end = live !== undefined && follow ? lineStart(live.fd, size) : size;
  if (live !== undefined) live.end = end;
  const records = await newestChosen({ logs, waiting }, EVERYTHING, count, unread);
  const cleaner = new RecordCleaner({ paths: context.paths, env: context.io.env });
  for (const record of records) await context.print(await cleaner.clean(record));
  unread.tell(context.note);
  const wait = waitingNote(waiting);
  if (wait !== undefined) context.note(wait);
  closeLogs(logs.filter((log) => !follow || log !== live));
  return follow ? followFrom(context, live?.fd, end) : 0;
}

/** The files of the log; who follows may be there before the first of them. */
function openedLogs({ paths }: TailContext, follow: boolean, unread: Unread): OpenLog[] {
  try {
    return openLogs(paths, (path, why) => unread.skipped(path, why));
  } catch (error) {
    if (follow && error instanceof Failure && error.code === 'log_not_found') return [];
    throw error;
  }
}

async function followFrom(
  context: TailContext,
  opened: number | undefined,
  from: number,
): Promise<number> {
  const { io, paths } = context;
  let fd = opened;
  let position = from;
  let part: Buffer = NOTHING;
  let leaving = false;
  let stoppedBy: NodeJS.Signals | undefined;
  let wake = () => {};
  const remove = io.onSignal((signal) => {
    stoppedBy = signal;
    wake();
  });
  while (!stoppedBy && !io.stdout.closed) {
    fd ??= openLog(paths.auditLog);
    // Asked before reading: what comes between the two is read in the next round.
    const replaced = fd !== undefined && isReplaced(fd, paths.auditLog);
    const bytes = fd === undefined ? NOTHING : readRange(fd, position, BLOCK);
    if (bytes.length > 0) {
      position += bytes.length;
      part = await printLines(context, Buffer.concat([part, bytes]));
      continue;
    }
    if (fd !== undefined && replaced && leaving) {
      const next = openNext(fd, paths);
      if (next !== undefined) {
        closeSync(fd);
        fd = next;
        position = 0;
        part = NOTHING;
        leaving = false;
        continue;
      }
    }
    // A writer that opened the file before it was renamed has one more round to finish.
    leaving = fd !== undefined && replaced && !leaving;
    if (fd === undefined || fstatSync(fd).size < position) {
      position = 0;
      part = NOTHING;
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, POLL);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
  remove();
  return stoppedBy ? signalStatus(stoppedBy) : 0;
}

/** Prints the whole lines; returns the part of a line that is still being written. */
async function printLines(context: TailContext, bytes: Buffer): Promise<Buffer> {
  const end = bytes.lastIndexOf(NEWLINE);
  const unread = new Unread();
  // A new one: a token may be replaced while a log is followed.
  const cleaner = new RecordCleaner({ paths: context.paths, env: context.io.env });
  for (const line of bytes.subarray(0, Math.max(0, end)).toString('utf8').split('\n')) {
    const record = readRecord(line);
    if (record) await context.print(await cleaner.clean(record));
    else if (/[^ \t\r]/.test(line)) unread.lines += 1;
  }
  unread.tell(context.note);
  const part = bytes.subarray(end + 1);
  // A line that long is no record, and one character of it is enough to tell so.
  return Buffer.from(part.subarray(0, part.length > LINE_MAX ? 1 : undefined));
}

/**
 * Opens the file that came after one that was rotated: the live log, or what has been rotated since as
 * well. Undefined when it cannot be told now: a rotation is going on.
 */
function openNext(fd: number, paths: Context['paths']): number | undefined {
  const files = logFiles(paths);
  const own = files.findIndex((path) => !isReplaced(fd, path) && isThere(path));
  // Compressed meanwhile, or deleted: nothing was written to it since, but to those after it.
  const { mtimeMs: since } = fstatSync(fd);
  const newer = (path: string) => !path.endsWith('.gz') && mtimeOf(path) > since;
  const next = own === -1 ? (files.findLast(newer) ?? paths.auditLog) : files[own - 1];
  const opened = next === undefined ? undefined : openLog(next);
  const path = files[own];
  if (opened === undefined || path === undefined || (isThere(path) && !isReplaced(fd, path)))
    return opened;
  closeSync(opened);
  return undefined;
}

function mtimeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function isReplaced(fd: number, path: string): boolean {
  try {
    const [mine, current] = [fstatSync(fd), statSync(path)];
    return mine.ino !== current.ino || mine.dev !== current.dev;
  } catch {
    return false;
  }
}
