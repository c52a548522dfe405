/** Reads the log and its rotated files from the beginning, in blocks of bounded size. */
import { closeSync, fstatSync, readSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { gzipBlocks, logFiles, openLogOr } from '@runner/common/audit/files';
import { LineSplitter, type SplitLine } from '@runner/common/files/lines-forward';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';

const NEWLINE = 0x0a;
const BLOCK = 65_536;
/** A line that is still being written counts as torn after this many milliseconds. */
const WRITING = 100;
const STEP = 20;

export interface OpenLog {
  readonly path: string;
  /** Its name in the folder. */
  readonly name: string;
  readonly fd: number;
  readonly live: boolean;
  /** Read up to here only; undefined: to the end, waiting for a line that is being written. */
  end: number | undefined;
}

export function closeLogs(logs: readonly OpenLog[]): void {
  for (const { fd } of logs) closeSync(fd);
}

/**
 * Opens all files of the log, oldest first, so that one that is renamed later is still read once. A
 * rotated file that cannot be opened is skipped and reported to `skipped`. Throws `log_not_found` when
 * there is no file, `file_unreadable` for the live log.
 */
export function openLogs(paths: Paths, skipped: (path: string, why: string) => void): OpenLog[] {
  for (let tries = 1; ; tries += 1) {
    const files = logFiles(paths).reverse();
    const opened: OpenLog[] = [];
    const closed: (readonly [path: string, why: string])[] = [];
    try {
      for (const path of files) {
        const fd = openLogOr(paths, path, (why) => closed.push([path, why]));
        const live = path === paths.auditLog;
        if (fd !== undefined) opened.push({ path, name: basename(path), fd, live, end: undefined });
      }
    } catch (error) {
      closeLogs(opened);
      throw error;
    }
    // A rotation has renamed some meanwhile: list them again.
    const settled = logFiles(paths).length === files.length && opened.every(isInPlace);
    if ((settled && opened.length + closed.length === files.length) || tries === 5) {
      if (files.length === 0)
        throw new Failure('log_not_found', `there is no audit log yet: ${paths.auditLog}`);
      for (const each of closed) skipped(...each);
      return opened;
    }
    closeLogs(opened);
  }
}

function isInPlace({ path, fd }: OpenLog): boolean {
  const [there, mine] = [statSync(path, { throwIfNoEntry: false }), fstatSync(fd)];
  return there?.ino === mine.ino && there.dev === mine.dev;
}

/** Whether a line is empty: a writer may end a line that another one has just ended. */
export function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09);
}

/**
 * All lines of a file, in blocks; a block is valid until the next one is requested. `damaged` is called
 * with the reason when a compressed file cannot be read to its end.
 */
export async function* linesOf(
  log: OpenLog,
  damaged: (why: string) => void,
): AsyncGenerator<SplitLine[]> {
  const splitter = new LineSplitter();
  if (!log.path.endsWith('.gz')) return yield* plainLines(log, splitter);
  for await (const block of gzipBlocks(log.fd, damaged)) yield splitter.take(block);
  yield splitter.rest();
}

async function* plainLines(log: OpenLog, splitter: LineSplitter): AsyncGenerator<SplitLine[]> {
  const { fd } = log;
  const buffer = Buffer.allocUnsafe(BLOCK);
  // Stop at the current end of the file, or busy writers could keep the reader going forever.
  const end = log.end ?? fstatSync(fd).size;
  let position = 0;
  while (position < end) {
    const count = readSync(fd, buffer, 0, Math.min(BLOCK, end - position), position);
    if (count === 0) break;
    position += count;
    yield splitter.take(buffer.subarray(0, count));
  }
  const mayWait = log.live && log.end === undefined;
  for (let waited = 0; mayWait && splitter.isInLine && waited < WRITING; waited += STEP) {
    const more = buffer.subarray(0, readSync(fd, buffer, 0, BLOCK, position));
    const at = more.indexOf(NEWLINE);
    const part = at === -1 ? more : more.subarray(0, at + 1);
    yield splitter.take(part);
    position += part.length;
    if (splitter.isInLine) await after(STEP);
  }
  log.end = position;
  yield splitter.rest();
}
