/** Reading files that may be hostile, writing files whole, making folders. */
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Failure, systemCode, systemFailure } from './failure.ts';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/**
 * Reads a regular file of at most `limit` bytes; undefined when there is none. Never follows a
 * symbolic link and never blocks on a FIFO. Throws `file_unreadable`.
 */
export function readIfThere(path: string, limit: number): Buffer | undefined {
  let fd: number;
  try {
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw systemFailure(error, `read ${path}`, 'file_unreadable');
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile())
      throw new Failure('file_unreadable', `cannot read ${path}: it is not a file`);
    if (stat.size > limit) {
      throw new Failure('file_unreadable', `cannot read ${path}: it is larger than ${limit} bytes`);
    }
    return readRange(fd, 0, stat.size);
  } catch (error) {
    throw systemFailure(error, `read ${path}`, 'file_unreadable');
  } finally {
    closeSync(fd);
  }
}

/** Where one small file at a time is read to: a buffer for each, and its stat, cost as much again. */
let scratch: Buffer | undefined;
const SCRATCH = 65_536;

/** `readIfThere` as UTF-8 text, for thousands of small files. */
export function readTextIfThere(path: string, limit: number): string | undefined {
  scratch ??= Buffer.allocUnsafeSlow(SCRATCH);
  let length = 0;
  let fd = -1;
  try {
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    // A regular file gives all that it has in one read.
    length = readSync(fd, scratch, 0, SCRATCH, null);
  } catch {
    length = 0;
  } finally {
    if (fd !== -1) closeSync(fd);
  }
  // Missing, empty, large or no file at all: the careful way finds out, and says so.
  if (length === 0 || length === SCRATCH || length > limit)
    return readIfThere(path, limit)?.toString('utf8');
  return scratch.toString('utf8', 0, length);
}

/**
 * Reads up to `length` bytes at `position`, whatever number of reads that takes; into a buffer of at
 * least that length where one is given.
 */
export function readRange(
  fd: number,
  position: number,
  length: number,
  bytes: Buffer = Buffer.allocUnsafe(length),
): Buffer {
  let done = 0;
  while (done < length) {
    const count = readSync(fd, bytes, done, length - done, position + done);
    if (count === 0) break;
    done += count;
  }
  return bytes.subarray(0, done);
}

/** Writes all bytes at the descriptor's position; continues short writes, throws ENOSPC itself. */
export function writeFully(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

/** Makes what was renamed or created in a folder survive a power cut. */
export function syncFolder(path: string): void {
  const fd = openSync(path, O_RDONLY | O_DIRECTORY);
  try {
    fsyncSync(fd);
  } catch (error) {
    // Some file systems (FUSE, 9p) know no fsync of a folder.
    if (systemCode(error) !== 'EINVAL' && systemCode(error) !== 'ENOTSUP') throw error;
  } finally {
    closeSync(fd);
  }
}

/** A name for a temporary file beside `path` that nothing else uses. */
function temporaryBeside(path: string): string {
  const random = process.getBuiltinModule('node:crypto').randomBytes(6).toString('hex');
  return join(dirname(path), `.${basename(path)}.${random}.tmp`);
}

/**
 * Writes a file whole: a reader sees the old content or the new, and after the return the new one
 * survives a power cut. `mode` is that of a new file; an existing one keeps its own. On any error
 * the old file is untouched and no temporary file remains.
 */
export function writeWhole(path: string, data: string | Uint8Array, mode = 0o600): void {
  replace(path, data, mode, true);
}

/**
 * Like `writeWhole` without waiting for the disk: a power cut may leave the file old, empty or
 * away. For what is only worth having, and read with that in mind.
 */
export function writeUnsynced(path: string, data: string): void {
  replace(path, data, 0o600, false);
}

function replace(path: string, data: string | Uint8Array, mode: number, durable: boolean): void {
  const bytes = typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
  const temporary = temporaryBeside(path);
  let left = false;
  try {
    const fd = openSync(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    left = true;
    try {
      writeFully(fd, bytes);
      // A full disk can cut a write short without an error.
      if (fstatSync(fd).size !== bytes.length) {
        throw new Failure('disk_full', `cannot write ${path}: it was cut short`);
      }
      fchmodSync(fd, modeOf(path) ?? mode);
      if (durable) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, path);
    left = false;
    if (durable) syncFolder(dirname(path));
  } catch (error) {
    if (left) removeIfThere(temporary);
    throw systemFailure(error, `write ${path}`);
  }
}

/** Whether anything stands at a path, a dangling link included. */
export function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

function modeOf(path: string): number | undefined {
  try {
    const stat = lstatSync(path);
    return stat.isFile() ? stat.mode & 0o7777 : undefined;
  } catch {
    return undefined;
  }
}

/** Removes a file; that it is gone already is fine. */
export function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT' && systemCode(error) !== 'ENOTDIR') {
      throw systemFailure(error, `remove ${path}`);
    }
  }
}

/** Makes a folder and those above it (`mode`, default 0750); existing ones are left as they are. */
export function makeFolder(path: string, mode = 0o750): void {
  try {
    mkdirSync(path, { recursive: true, mode });
    if (!statSync(path).isDirectory()) throw new Failure('not_writable', `${path} is not a folder`);
  } catch (error) {
    throw systemFailure(error, `make the folder ${path}`);
  }
}

/** Names in a folder, sorted; none when it does not exist. */
export function namesIn(path: string): string[] {
  try {
    return readdirSync(path).sort();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw systemFailure(error, `read the folder ${path}`, 'file_unreadable');
  }
}

/** A temporary file that a killed `writeWhole` left is removed after this many milliseconds. */
const STRAY_AGE = 3_600_000;

/** Removes what killed writers left in a folder; call it under the lock that guards the folder. */
export function sweepStrays(folder: string, now: Date): void {
  for (const name of namesIn(folder)) {
    if (!/^\..+\.[0-9a-f]{12}\.tmp$/.test(name)) continue;
    const path = join(folder, name);
    try {
      if (now.getTime() - lstatSync(path).mtimeMs > STRAY_AGE) unlinkSync(path);
    } catch {
      // Another process was faster, or may not: the next one tries again.
    }
  }
}
