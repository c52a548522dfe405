/** The newest records of the log, and those that come after them. */
import { closeSync, fstatSync, statSync } from 'node:fs';
import { linesBackward, logFiles, openLog } from '@runner/common/audit-scan';
import type { Context } from '@runner/common/command';
import { type LogRecord, readRecord } from '@runner/common/events';
import { Failure, signalStatus } from '@runner/common/failure';
import { readRange } from '@runner/common/files';

type TailContext = Pick<Context, 'io' | 'paths' | 'print' | 'note'>;

/** How often a followed log is looked at, in milliseconds. */
const POLL = 200;
const BLOCK = 262_144;

/** Prints the newest `count` records and, with `follow`, all later ones until a signal comes. */
export async function printTail(
  context: TailContext,
  count: number,
  follow: boolean,
): Promise<number> {
  const { paths, note } = context;
  const live = openLog(paths.auditLog);
  if (live === undefined && !follow && logFiles(paths).length === 0) {
    throw new Failure('log_not_found', `there is no audit log yet: ${paths.auditLog}`);
  }
  const end = live === undefined ? 0 : fstatSync(live).size;
  const { records, unreadable } = newest(context, count);
  for (const record of records) await context.print(record);
  if (unreadable > 0) note(`passed over ${unreadable} line(s) that are no records`);
  if (!follow) {
    if (live !== undefined) closeSync(live);
    return 0;
  }
  return followFrom(context, live, end);
}

/** Rotated plain files count too; compressed ones are for `list`. */
function newest(
  { paths }: TailContext,
  count: number,
): { records: LogRecord[]; unreadable: number } {
  const records: LogRecord[] = [];
  let unreadable = 0;
  for (const path of logFiles(paths).filter((name) => !name.endsWith('.gz'))) {
    const fd = records.length < count ? openLog(path) : undefined;
    if (fd === undefined) continue;
    for (const line of linesBackward(fd, Buffer.alloc(0))) {
      if (records.length === count) break;
      const record = readRecord(line);
      if (record) records.push(record);
      else if (line.length > 0) unreadable += 1;
    }
    closeSync(fd);
  }
  return { records: records.reverse(), unreadable };
}

async function followFrom(
  context: TailContext,
  opened: number | undefined,
  from: number,
): Promise<number> {
  const { io, paths } = context;
  let fd = opened;
  let position = from;
  let part: Buffer = Buffer.alloc(0);
  let stoppedBy: NodeJS.Signals | undefined;
  let wake = () => {};
  const remove = io.onSignal((signal) => {
    stoppedBy = signal;
    wake();
  });
  while (!stoppedBy && !io.stdout.closed) {
    fd ??= openLog(paths.auditLog);
    const bytes = fd === undefined ? Buffer.alloc(0) : readRange(fd, position, BLOCK);
    if (bytes.length > 0) {
      position += bytes.length;
      part = await printLines(context, Buffer.concat([part, bytes]));
    } else if (fd !== undefined && isReplaced(fd, paths.auditLog)) {
      // Renamed away: it was read to its end above, so the new file begins at its start.
      closeSync(fd);
      fd = undefined;
      position = 0;
      part = Buffer.alloc(0);
    } else {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, POLL);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
  remove();
  return stoppedBy ? signalStatus(stoppedBy) : 0;
}

/** Prints the whole lines; returns the part of a line that is still being written. */
async function printLines(context: TailContext, bytes: Buffer): Promise<Buffer> {
  const end = bytes.lastIndexOf(0x0a);
  for (const line of bytes.subarray(0, Math.max(0, end)).toString('utf8').split('\n')) {
    const record = readRecord(line);
    if (record) await context.print(record);
  }
  return Buffer.from(bytes.subarray(end + 1));
}

function isReplaced(fd: number, path: string): boolean {
  try {
    const [mine, current] = [fstatSync(fd), statSync(path)];
    return mine.ino !== current.ino || mine.dev !== current.dev;
  } catch {
    return false;
  }
}
