/** The log and its rotated files from their beginning, in blocks: memory does not grow with the log. */
import { closeSync, createReadStream, fstatSync, readSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { LINE_MAX, logFiles, openLog } from '@runner/common/audit-scan';
import { Failure, systemCode, systemWords } from '@runner/common/failure';
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

/** A line without its newline; undefined when it was too long to be kept. */
export type Line = Buffer | undefined;

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

/** Cuts blocks of bytes into lines. */
class Splitter {
  #parts: Buffer[] = [];
  #size = 0;

  /** The lines that end in this block. */
  take(block: Buffer): Line[] {
    const lines: Line[] = [];
    let from = 0;
    for (let at = block.indexOf(NEWLINE); at !== -1; at = block.indexOf(NEWLINE, from)) {
      lines.push(this.#ended(block.subarray(from, at)));
      from = at + 1;
    }
    this.#keep(block.subarray(from));
    return lines;
  }

  /** Whether something stands behind the last newline. */
  get isInLine(): boolean {
    return this.#size > 0;
  }

  /** What stands behind the last newline; none when nothing does. */
  rest(): Line[] {
    return this.isInLine ? [this.#ended(Buffer.alloc(0))] : [];
  }

  #ended(end: Buffer): Line {
    const size = this.#size + end.length;
    const parts = this.#parts;
    this.#parts = [];
    this.#size = 0;
    if (size > LINE_MAX) return undefined;
    return parts.length === 0 ? end : Buffer.concat([...parts, end]);
  }

  #keep(part: Buffer): void {
    this.#size += part.length;
    if (this.#size > LINE_MAX) this.#parts = [];
    else if (part.length > 0) this.#parts.push(Buffer.from(part));
  }
}

/**
 * All lines of a file, a block of them at a time, each block valid until the next is asked for.
 * Closes the file. `damaged` hears what keeps a compressed file from being read to its end.
 */
export async function* linesOf(
  log: OpenLog,
  damaged: (why: string) => void,
): AsyncGenerator<Line[]> {
  const splitter = new Splitter();
  if (log.path.endsWith('.gz')) {
    const stream = createReadStream(log.path, { fd: log.fd });
    const unzipped = stream.pipe(process.getBuiltinModule('node:zlib').createGunzip());
    stream.on('error', (error) => unzipped.destroy(error));
    try {
      for await (const block of unzipped as AsyncIterable<Buffer>) yield splitter.take(block);
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      const damage = systemCode(error)?.startsWith('Z_');
      damaged(damage ? 'it is damaged or cut short' : systemWords(error));
    } finally {
      stream.destroy();
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

async function* plainLines({ fd, live }: OpenLog, splitter: Splitter): AsyncGenerator<Line[]> {
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
