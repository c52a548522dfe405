/** Records that are appended from now on, also while the log is rotated. */
import { closeSync, fstatSync, statSync } from 'node:fs';
import { logFiles, openLog, Unread } from '@runner/common/audit/files';
import { readRecord } from '@runner/common/audit/record';
import type { Context } from '@runner/common/cli/command';
import { LINE_MAX } from '@runner/common/files/lines-backward';
import { isThere, readRange } from '@runner/common/files/read';
import type { Paths } from '@runner/common/foundation/paths';
import { poll } from '@runner/common/foundation/poll';
import { RecordCleaner } from '@runner/common/redaction/redact';

type FollowContext = Pick<Context, 'io' | 'paths' | 'print' | 'note'>;

const BLOCK = 262_144;
const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);

/**
 * Prints records until a signal comes or the reader leaves; returns the exit status. `fd` is the open
 * live log, read up to `position`; undefined when there is no log yet.
 */
export async function follow(
  context: FollowContext,
  fd: number | undefined,
  position: number,
): Promise<number> {
  const tail = new Tail(context.paths, fd, position);
  let part: Buffer = NOTHING;
  return poll(context.io, async () => {
    const bytes = tail.read();
    if (bytes === 'next file') part = NOTHING;
    else if (bytes.length > 0) part = await printLines(context, Buffer.concat([part, bytes]));
    else return 'wait';
    return 'more';
  });
}

/** Reads the live log on and on; goes to the next file when the log was rotated. */
class Tail {
  readonly #paths: Paths;
  #fd: number | undefined;
  #position: number;
  /** The file was rotated and read to its end: its last writer has one more round to finish. */
  #leaving = false;

  constructor(paths: Paths, fd: number | undefined, position: number) {
    this.#paths = paths;
    this.#fd = fd;
    this.#position = position;
  }

  /** The next bytes; empty when there are none now. */
  read(): Buffer | 'next file' {
    this.#fd ??= openLog(this.#paths.auditLog);
    if (this.#fd === undefined) return this.#restart();
    // Looked at before reading: what is written in between is read in the next round.
    const replaced = isReplaced(this.#fd, this.#paths.auditLog);
    const bytes = readRange(this.#fd, this.#position, BLOCK);
    if (bytes.length > 0) {
      this.#position += bytes.length;
      return bytes;
    }
    if (fstatSync(this.#fd).size < this.#position) return this.#restart();
    const next = replaced && this.#leaving ? openNext(this.#fd, this.#paths) : undefined;
    this.#leaving = replaced && (!this.#leaving || next === undefined);
    if (next === undefined) return NOTHING;
    closeSync(this.#fd);
    this.#fd = next;
    return this.#restart();
  }

  #restart(): 'next file' | Buffer {
    const moved = this.#position > 0;
    this.#position = 0;
    return moved ? 'next file' : NOTHING;
  }
}

/** Prints the complete lines; returns the incomplete one at the end. */
async function printLines(context: FollowContext, bytes: Buffer): Promise<Buffer> {
  const end = bytes.lastIndexOf(NEWLINE);
  const unread = new Unread();
  // A new one each time: a token may be replaced while a log is followed.
  const cleaner = new RecordCleaner({ paths: context.paths, env: context.io.env });
  for (const line of bytes.subarray(0, Math.max(0, end)).toString('utf8').split('\n')) {
    const record = readRecord(line);
    if (record) await context.print(await cleaner.clean(record));
    else if (/[^ \t\r]/.test(line)) unread.lines += 1;
  }
  unread.tell(context.note);
  const part = bytes.subarray(end + 1);
  // A longer line is not a record; one character is enough to count it.
  return Buffer.from(part.subarray(0, part.length > LINE_MAX ? 1 : undefined));
}

/**
 * Opens the file that came after a rotated one: the live log, or one that was rotated since. Undefined
 * while a rotation is going on.
 */
function openNext(fd: number, paths: Paths): number | undefined {
  const files = logFiles(paths);
  const own = files.findIndex((path) => !isReplaced(fd, path) && isThere(path));
  // Compressed or deleted since: every later file was written after it.
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
