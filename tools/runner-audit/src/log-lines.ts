/** The log and its rotated files from their beginning, in blocks: memory does not grow with the log. */
import { closeSync, fstatSync, readSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { gzipBlocks, logFiles, openLogOr } from '@runner/common/audit/files';
import { type Line, LineSplitter } from '@runner/common/files/lines-forward';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';

const NEWLINE = 0x0a;
const BLOCK = 65_536;
/** How long a line that is being written may take until it counts as torn, in milliseconds. */
const WRITING = 100;
const STEP = 20;

/** An open file of the log. */
export interface OpenLog {
  readonly path: string;
  /** Its name in the folder, as in messages. */
  readonly name: string;
  readonly fd: number;
  readonly live: boolean;
  /** How far it was read; further readings end there as well. */
  end: number | undefined;
}

/** Closes what `openLogs` has opened. */
export function closeLogs(logs: readonly OpenLog[]): void {
  for (const { fd } of logs) closeSync(fd);
}

/**
 * Opens all files of the log, oldest first: what is renamed from now on is still read once. A rotated
 * file that cannot be opened is passed over, and `skipped` hears its path. Throws `log_not_found` when
 * there is none, `file_unreadable` for the live log.
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
    // A rotation in between has renamed some: another look finds them.
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

/**
 * All lines of a file, a block of them at a time, each block valid until the next is asked for.
 * `damaged` hears what keeps a compressed file from being read to its end.
 */
export async function* linesOf(
  log: OpenLog,
  damaged: (why: string) => void,
): AsyncGenerator<Line[]> {
  const splitter = new LineSplitter();
  if (!log.path.endsWith('.gz')) return yield* plainLines(log, splitter);
  for await (const block of gzipBlocks(log.fd, damaged)) yield splitter.take(block);
  yield splitter.rest();
}

async function* plainLines(log: OpenLog, splitter: LineSplitter): AsyncGenerator<Line[]> {
  const { fd } = log;
  const buffer = Buffer.allocUnsafe(BLOCK);
  // Where it ends now is enough: writers that go on must not keep a reader for ever.
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
