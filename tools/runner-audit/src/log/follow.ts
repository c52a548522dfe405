/** Follows the log across rotations. */

import { closeSync, fstatSync, statSync } from 'node:fs';
import { logFiles, openLog, Unread } from '@runner/common/audit/files';
import { readRecord, withBothNames } from '@runner/common/audit/record';
import type { Context } from '@runner/common/cli/command';
import { LINE_MAX } from '@runner/common/files/lines-backward';
import { isThere, readRange } from '@runner/common/files/read';
import { orElse } from '@runner/common/foundation/attempt';
import type { Paths } from '@runner/common/foundation/paths';
import { poll } from '@runner/common/foundation/poll';
import { RecordCleaner } from '@runner/common/redaction/redact';

type FollowContext = Pick<Context, 'io' | 'paths' | 'print' | 'note'>;

const BLOCK = 262_144;
const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);

/**
 * Prints records until a signal arrives or the reader closes the pipe; returns the exit status. `fd` is
 * the open live log, already read up to `position`; undefined if there is no log yet.
 */
export async function follow(
  context: FollowContext,
  fd: number | undefined,
  position: number,
): Promise<number> {
  const tail = new LogTail(context.paths, fd, position);
  let part: Buffer = NOTHING;
  return poll(context.io, async () => {
    const bytes = tail.read();
    if (bytes === 'next file') part = NOTHING;
    else if (bytes.length > 0) part = await printLines(context, Buffer.concat([part, bytes]));
    else return 'wait';
    return 'more';
  });
}

/** Reads the live log, and continues with the next file after a rotation. */
class LogTail {
  readonly #paths: Paths;
  #fd: number | undefined;
  #position: number;
  /** The file was rotated and read to its end; read once more, in case its last writer was not done. */
  #leaving = false;

  constructor(paths: Paths, fd: number | undefined, position: number) {
    this.#paths = paths;
    this.#fd = fd;
    this.#position = position;
  }

  /** The next bytes; empty if there are none yet. */
  read(): Buffer | 'next file' {
    this.#fd ??= openLog(this.#paths.auditLog);
    if (this.#fd === undefined) return this.#restart();
    // Checked before reading: bytes written in between are read in the next round.
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
  // Created each time: a token may be replaced meanwhile.
  const cleaner = new RecordCleaner({ paths: context.paths, env: context.io.env });
  for (const line of bytes.subarray(0, Math.max(0, end)).toString('utf8').split('\n')) {
    const record = readRecord(line);
    if (record) await context.print(withBothNames(await cleaner.clean(record)));
    else if (/[^ \t\r]/.test(line)) unread.lines += 1;
  }
  unread.report(context.note);
  const part = bytes.subarray(end + 1);
  // A longer line is not a record; keep one byte to count it as unreadable.
  return Buffer.from(part.subarray(0, part.length > LINE_MAX ? 1 : undefined));
}

/**
 * Opens the successor of a rotated file: the live log, or a file that was rotated later. Undefined
 * during a rotation.
 */
function openNext(fd: number, paths: Paths): number | undefined {
  const files = logFiles(paths);
  const own = files.findIndex((path) => !isReplaced(fd, path) && isThere(path));
  // If it is no longer there (compressed or deleted): the oldest file that was modified after it.
  const { mtimeMs: since } = fstatSync(fd);
  const newer = (path: string) =>
    !path.endsWith('.gz') && (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) > since;
  const next = own === -1 ? (files.findLast(newer) ?? paths.auditLog) : files[own - 1];
  const opened = next === undefined ? undefined : openLog(next);
  const path = files[own];
  if (opened === undefined || path === undefined || (isThere(path) && !isReplaced(fd, path)))
    return opened;
  closeSync(opened);
  return undefined;
}

function isReplaced(fd: number, path: string): boolean {
  const mine = fstatSync(fd);
  const current = orElse(() => statSync(path), mine);
  return mine.ino !== current.ino || mine.dev !== current.dev;
}
