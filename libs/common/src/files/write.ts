/** Writes files atomically: a temporary file beside the old one, then a rename. */
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readlinkSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { closing, orElse } from '../foundation/attempt.ts';
import { Failure, systemCode, systemFailure } from '../foundation/failure.ts';
import { namesIn, removeIfThere } from './read.ts';

const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } =
  constants;

/** Writes all bytes at the descriptor's position; continues after short writes. */
export function writeFully(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

/** Appends to a file; `mode` is for a new one. Follows no link, and does not wait for the reader of a pipe. */
export function appendTo(path: string, text: string, mode: number): void {
  const fd = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, mode);
  using _file = closing(fd);
  writeFully(fd, Buffer.from(text));
}

/** Makes renames and new files in a folder survive a power cut. */
export function syncFolder(path: string): void {
  const fd = openSync(path, O_RDONLY | O_DIRECTORY);
  try {
    fsyncSync(fd);
  } catch (error) {
    // Some file systems (FUSE, 9p) have no fsync for folders.
    if (systemCode(error) !== 'EINVAL' && systemCode(error) !== 'ENOTSUP') throw error;
  } finally {
    closeSync(fd);
  }
}

function temporaryBeside(path: string): string {
  // Need not be unguessable: O_EXCL refuses a name that is in use.
  const chance = Math.floor(Math.random() * 2 ** 48).toString(16);
  return join(dirname(path), `.${basename(path)}.${chance.padStart(12, '0')}.tmp`);
}

/**
 * Writes a file atomically; on return it survives a power cut. `mode` is for a new file; an existing
 * one keeps its own. After an error the old file is untouched and no temporary file remains.
 */
export function writeWhole(
  path: string,
  data: string | Uint8Array,
  mode = 0o600,
  durable = true,
): void {
  const bytes = typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
  const temporary = temporaryBeside(path);
  let left = false;
  try {
    requireReplaceable(path);
    const fd = openSync(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    left = true;
    try {
      writeFully(fd, bytes);
      const stat = fstatSync(fd);
      // A full disk can cut a write short without an error.
      if (stat.size !== bytes.length) {
        throw new Failure('disk_full', `cannot write ${path}: it was cut short`);
      }
      if (stat.uid === 0) giveToOwnerOf(dirname(path), fd);
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

/** Like `writeWhole` without fsync: a power cut may leave the file old, empty or missing. */
export function writeUnsynced(path: string, data: string): void {
  writeWhole(path, data, 0o600, false);
}

/**
 * Throws `not_writable` for a device, a pipe or a socket, also behind a link: a rename would put a file in
 * the place of `/dev/null` or `/dev/stdout`.
 */
export function requireReplaceable(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  const isSpecial = stat !== undefined && !stat.isFile() && !stat.isDirectory();
  const isLink = stat !== undefined && lstatSync(path).isSymbolicLink();
  if (isSpecial || (isLink && readlinkSync(path).startsWith('/proc/')))
    throw new Failure('not_writable', `cannot write ${path}: it is not a file`);
}

/** Gives a file that root has just made to the owner of its folder, whose deploys need it. */
export function giveToOwnerOf(folder: string, fd: number): void {
  const { uid, gid } = statSync(folder);
  try {
    if (uid !== 0) fchownSync(fd, uid, gid);
  } catch {
    // Not root: the file existed, and keeps its owner.
  }
}

function modeOf(path: string): number | undefined {
  const stat = orElse(() => lstatSync(path), undefined);
  return stat?.isFile() ? stat.mode & 0o7777 : undefined;
}

/** Age in ms at which the temporary file of a killed `writeWhole` is removed. */
const STRAY_AGE = 3_600_000;

/** Removes the temporary files of killed writers; call it under the folder's lock. */
export function sweepStrays(folder: string, now: Date): void {
  for (const name of namesIn(folder)) {
    if (!/^\..+\.[0-9a-f]{12}\.tmp$/.test(name)) continue;
    const path = join(folder, name);
    try {
      if (now.getTime() - lstatSync(path).mtimeMs > STRAY_AGE) unlinkSync(path);
    } catch {
      // Gone meanwhile, or not permitted: another process tries again.
    }
  }
}
