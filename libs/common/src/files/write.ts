/** Writing files whole: beside the old one first, then in its place. */
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Failure, systemCode, systemFailure } from '../foundation/failure.ts';
import { namesIn, removeIfThere } from './read.ts';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;

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
  // By chance, not by node:crypto: loading that is slow, and O_EXCL refuses a name that is in use.
  const chance = Math.floor(Math.random() * 2 ** 48).toString(16);
  return join(dirname(path), `.${basename(path)}.${chance.padStart(12, '0')}.tmp`);
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

/**
 * Gives a file that root has just made to the user whose folder it is in: that user's deploys have to
 * go on with it.
 */
export function giveToOwnerOf(folder: string, fd: number): void {
  const { uid, gid } = statSync(folder);
  try {
    if (uid !== 0) fchownSync(fd, uid, gid);
  } catch {
    // Not root: it was there, and whoever made it wants it so.
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
