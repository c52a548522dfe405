/** The files of the audit log: the live one and the rotated ones, also compressed. */
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { LineSplitter, type SplitLine } from '../files/lines-forward.ts';
import { namesIn, readRange } from '../files/read.ts';
import { closing } from '../foundation/attempt.ts';
import { Failure, systemCode, systemFailure, systemWords } from '../foundation/failure.ts';
import type { Paths } from '../foundation/paths.ts';

/** The existing files of the log (live, `.1`, `.2.gz`, …), newest first; one being compressed counts once. */
export function logFiles(paths: Paths): string[] {
  const folder = dirname(paths.auditLog);
  const live = basename(paths.auditLog);
  const number = (name: string) => Number(name.slice(live.length + 1).replace('.gz', ''));
  const names = namesIn(folder).filter((name) => name.startsWith(live));
  const rotated = names
    .filter((name) => /^\.\d{1,6}(\.gz)?$/.test(name.slice(live.length)))
    .filter((name) => !(name.endsWith('.gz') && names.includes(name.slice(0, -3))))
    .sort((a, b) => number(a) - number(b));
  return [...names.filter((name) => name === live), ...rotated].map((name) => join(folder, name));
}

/** What a reader of the log had to skip. */
export class Unread {
  /** Lines that are not records. */
  lines = 0;
  readonly #files: string[] = [];

  /** A file that was not read at all. */
  skipped(path: string, why: string): void {
    this.#files.push(`skipped ${basename(path)}: ${why}`);
  }

  /** A file that was read up to the damage. */
  damaged(path: string, why: string): void {
    this.#files.push(`${basename(path)} cannot be read to the end: ${why}`);
  }

  /** Prints and clears the notes: one per file, and one for the lines, with `where` they are. */
  report(note: (text: string) => void, where = ''): void {
    for (const text of this.#files.splice(0)) note(text);
    if (this.lines > 0) note(`skipped ${this.lines} line(s) that are not records${where}`);
    this.lines = 0;
  }
}

/** Why a file of the log cannot be opened. */
interface Unopened {
  readonly why: string;
  readonly cause?: unknown;
}

function tryOpen(path: string): number | undefined | Unopened {
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (fstatSync(fd).isFile()) return fd;
    closeSync(fd);
    return { why: 'it is not a file' };
  } catch (cause) {
    return systemCode(cause) === 'ENOENT' ? undefined : { why: systemWords(cause), cause };
  }
}

function openFailure(path: string, { why, cause }: Unopened): unknown {
  if (cause !== undefined) return systemFailure(cause, `read ${path}`, 'file_unreadable');
  return new Failure('file_unreadable', `cannot read ${path}: ${why}`);
}

/** Opens a file of the log; undefined if it does not exist. Throws `file_unreadable`. */
export function openLog(path: string): number | undefined {
  const opened = tryOpen(path);
  if (typeof opened === 'object') throw openFailure(path, opened);
  return opened;
}

/** The same, but calls `skipped` for a rotated file that cannot be opened: the others are worth reading. */
export function openLogOr(
  paths: Paths,
  path: string,
  skipped: (why: string) => void,
): number | undefined {
  const opened = tryOpen(path);
  if (typeof opened !== 'object') return opened;
  if (path === paths.auditLog) throw openFailure(path, opened);
  skipped(opened.why);
  return undefined;
}

/** The files of the log that can be opened, newest first; each is closed before the next one. */
export function* openLogs(
  paths: Paths,
  skipped: (path: string, why: string) => void = () => {},
): Generator<{ readonly fd: number; readonly path: string }> {
  for (const path of logFiles(paths)) {
    const fd = openLogOr(paths, path, (why) => skipped(path, why));
    if (fd === undefined) continue;
    using _file = closing(fd);
    yield { fd, path };
  }
}

const BLOCK = 65_536;
/** Output bytes a step of zlib when a file is damaged: the step that fails yields nothing. */
const SMALL_STEP = 64;

/**
 * The content of a compressed file of the log, block by block, up to where it is damaged; `damaged` is
 * then called with the reason. The descriptor stays open.
 */
export async function* gzipBlocks(
  fd: number,
  damaged: (why: string) => void,
): AsyncGenerator<Buffer> {
  let done = 0;
  for (const step of [undefined, SMALL_STEP]) {
    let at = 0;
    try {
      for await (const block of inflated(fd, step)) {
        at += block.length;
        if (at > done) yield block.subarray(Math.max(0, block.length - (at - done)));
        done = Math.max(done, at);
      }
      return;
    } catch (error) {
      const code = systemCode(error);
      if (code === undefined) throw error;
      const why = code.startsWith('Z_') ? 'it is damaged or cut short' : systemWords(error);
      if (step === undefined) damaged(why);
    }
  }
}

/** Not a pipe, which on an error drops data that is inflated but not yet read. */
async function* inflated(fd: number, chunkSize: number | undefined): AsyncGenerator<Buffer> {
  const gunzip = process
    .getBuiltinModule('node:zlib')
    .createGunzip(chunkSize === undefined ? {} : { chunkSize });
  let failure: unknown;
  let wake = () => {};
  const woken = () => wake();
  gunzip.on('readable', woken).on('end', woken);
  gunzip.on('error', (error) => {
    failure = error;
    wake();
  });
  try {
    for (let position = 0, ended = false; !ended; ) {
      const bytes = readRange(fd, position, BLOCK);
      position += bytes.length;
      ended = bytes.length === 0;
      let taken = false;
      const take = () => {
        taken = true;
        wake();
      };
      if (ended) gunzip.end();
      else gunzip.write(bytes, take);
      for (;;) {
        const block: Buffer | null = gunzip.read();
        if (block !== null) {
          yield block;
          continue;
        }
        if (failure !== undefined) throw failure;
        if (ended ? gunzip.readableEnded : taken) break;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    gunzip.destroy();
  }
}

/** Lines of a compressed file, first to last; undefined for one that is too long. */
export async function* gzipLines(
  fd: number,
  damaged: (why: string) => void,
): AsyncGenerator<SplitLine> {
  const splitter = new LineSplitter();
  for await (const block of gzipBlocks(fd, damaged)) yield* splitter.take(block);
  yield* splitter.rest();
}
