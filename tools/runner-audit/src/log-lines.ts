/** The log and its rotated files from their beginning, in blocks: memory does not grow with the log. */
import { closeSync, fstatSync, readSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { gzipBlocks, logFiles, openLog } from '@runner/common/audit-files';
import { Failure, systemCode, systemWords } from '@runner/common/failure';
import { type Line, LineSplitter } from '@runner/common/line-splitter';
import type { Paths } from '@runner/common/paths';

const NEWLINE = 0x0a;
const BLOCK = 262_144;
/** How long a line that is being written may take until it counts as torn, in milliseconds. */
const WRITING = 100;
const STEP = 20;

/** An open file of the log. Whoever reads its lines closes it. */
export interface OpenLog {
  readonly path: string;
  /** Its name in the folder, as in messages. */
  readonly name: string;
  readonly fd: number;
  readonly live: boolean;
}

/**
 * Opens all files of the log, oldest first: what is renamed from now on is still read once. Throws
 * `log_not_found` when there is none, `file_unreadable`.
 */
export function openLogs(paths: Paths): OpenLog[] {
  for (let tries = 1; ; tries += 1) {
    const files = logFiles(paths).reverse();
    const opened: OpenLog[] = [];
    const closeAll = () => {
      for (const { fd } of opened) closeSync(fd);
    };
    try {
      for (const path of files) {
        const fd = openLog(path);
        const live = path === paths.auditLog;
        if (fd !== undefined) opened.push({ path, name: basename(path), fd, live });
      }
    } catch (error) {
      closeAll();
      throw error;
    }
    // A rotation in between has renamed some: another look finds them.
    const settled = logFiles(paths).length === files.length && opened.every(isInPlace);
    if ((settled && opened.length === files.length) || tries === 5) {
      if (opened.length > 0) return opened;
      throw new Failure('log_not_found', `there is no audit log yet: ${paths.auditLog}`);
    }
    closeAll();
  }
}

function isInPlace({ path, fd }: OpenLog): boolean {
  const [there, mine] = [statSync(path, { throwIfNoEntry: false }), fstatSync(fd)];
  return there?.ino === mine.ino && there.dev === mine.dev;
}

/**
 * All lines of a file, a block of them at a time, each block valid until the next is asked for.
 * Closes the file. `damaged` hears what keeps a compressed file from being read to its end.
 */
export async function* linesOf(
  log: OpenLog,
  damaged: (why: string) => void,
): AsyncGenerator<Line[]> {
  const splitter = new LineSplitter();
  if (log.path.endsWith('.gz')) {
    try {
      for await (const block of gzipBlocks(log.path, log.fd)) yield splitter.take(block);
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      const damage = systemCode(error)?.startsWith('Z_');
      damaged(damage ? 'it is damaged or cut short' : systemWords(error));
    }
    yield splitter.rest();
    return;
  }
  try {
    yield* plainLines(log, splitter);
  } finally {
    closeSync(log.fd);
  }
}

async function* plainLines({ fd, live }: OpenLog, splitter: LineSplitter): AsyncGenerator<Line[]> {
  const buffer = Buffer.allocUnsafe(BLOCK);
  // Where it ends now is enough: writers that go on must not keep a reader for ever.
  const end = fstatSync(fd).size;
  let position = 0;
  while (position < end) {
    const count = readSync(fd, buffer, 0, Math.min(BLOCK, end - position), position);
    if (count === 0) break;
    position += count;
    yield splitter.take(buffer.subarray(0, count));
  }
  for (let waited = 0; live && splitter.isInLine && waited < WRITING; waited += STEP) {
    const more = buffer.subarray(0, readSync(fd, buffer, 0, BLOCK, position));
    const at = more.indexOf(NEWLINE);
    yield splitter.take(at === -1 ? more : more.subarray(0, at + 1));
    position += more.length;
    if (splitter.isInLine) await after(STEP);
  }
  yield splitter.rest();
}
