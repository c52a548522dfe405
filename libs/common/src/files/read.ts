/** Reads files that may be hostile; lists, makes and removes. */
import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  type Stats,
  statSync,
  unlinkSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { orElse } from '../foundation/attempt.ts';
import { Failure, systemCode, systemFailure, usage } from '../foundation/failure.ts';
import { type Io, openSource, readAll } from '../foundation/io.ts';
import { word } from '../text/shell.ts';

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/**
 * Reads a regular file of at most `limit` bytes; undefined if it does not exist. Never follows a
 * symbolic link or blocks on a FIFO. `check` may refuse it. Throws `file_unreadable`.
 */
export function readIfThere(
  path: string,
  limit: number,
  check?: (stat: Stats) => void,
): Buffer | undefined {
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
    check?.(stat);
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

/** `readIfThere` as UTF-8 text. */
export function readTextIfThere(path: string, limit: number): string | undefined {
  return readIfThere(path, limit)?.toString('utf8');
}

/** Standard input can be read once: throws `usage` if several files, by what names them, are `-`. */
export function refuseTwoReaders(files: Readonly<Record<string, string | undefined>>): void {
  const [first, second] = Object.keys(files).filter((name) => files[name] === '-');
  if (second === undefined) return;
  throw usage(`'${first} -' cannot be used with '${second} -': both read standard input`);
}

/**
 * The text of a file that an option names; of standard input, which is `what`, for `-`. The path is
 * the caller's own, so it may be a link, as Kubernetes and Docker mount secrets, or a pipe, as of
 * `<(…)`. Blocks until a FIFO has a writer. Throws `file_unreadable`.
 */
export function readGiven({ stdin, cwd }: Io, file: string, limit: number, what: string): string {
  // A socket, and what another user opened, cannot be opened again by the name /dev/stdin.
  if (file === '-' || file === '/dev/stdin') return readAll(stdin, limit, what);
  const path = resolve(cwd, file);
  let fd: number;
  try {
    fd = openSync(path, O_RDONLY);
  } catch (error) {
    if (systemCode(error) === 'ENOENT')
      throw new Failure('file_unreadable', `there is no file ${path}`);
    const failure = systemFailure(error, `read ${path}`, 'file_unreadable');
    if (systemCode(error) !== 'EACCES' || !(failure instanceof Failure)) throw failure;
    // Without the cause: as root the command still acts as the owner of its root.
    const instead = `name - instead of the file, and add < ${word(path)}`;
    throw new Failure(failure.code, `${failure.message}; ${instead}`);
  }
  try {
    return readAll(openSource(fd, path), limit, path);
  } catch (error) {
    throw systemFailure(error, `read ${path}`, 'file_unreadable');
  } finally {
    closeSync(fd);
  }
}

/** Reads up to `length` bytes at `position`, fewer only at the end of the file. */
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

/** Whether a path exists; a dangling link does. */
export function isThere(path: string): boolean {
  return orElse(() => lstatSync(path, { throwIfNoEntry: false }) !== undefined, false);
}

export function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    // A read-only file system says so of what is not there, too.
    if (!['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '') && isThere(path)) {
      throw systemFailure(error, `remove ${path}`);
    }
  }
}

/** Makes a folder and its parents with `mode`; existing ones stay as they are. */
export function makeFolder(path: string, mode = 0o750): void {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
    makeWhole(path, mode);
    if (!statSync(path).isDirectory()) {
      throw new Failure('not_writable', `cannot make the folder ${path}: it is a file`);
    }
  } catch (error) {
    throw systemFailure(error, `make the folder ${path}`);
  }
}

/** Makes a folder and its parents, of `/etc`, that all may read. */
export function makeOpenFolder(path: string): void {
  // Not by chmod: a kill before it would leave the folder closed.
  const umask = process.umask(0o022);
  try {
    makeFolder(path, 0o755);
  } finally {
    process.umask(umask);
  }
}

/** mkdirSync with `recursive` never returns below a folder that accepts no new ones (/proc). */
function makeWhole(path: string, mode: number): void {
  const makeThis = () => {
    try {
      mkdirSync(path, { mode });
    } catch (error) {
      if (!statSync(path, { throwIfNoEntry: false })) throw error;
    }
  };
  try {
    makeThis();
  } catch (error) {
    if (systemCode(error) !== 'ENOENT' || dirname(path) === path) throw error;
    makeWhole(dirname(path), mode);
    makeThis();
  }
}

/** Whether this user lacks permission to read a file or folder. */
export function isClosed(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return false;
  } catch (error) {
    return systemCode(error) === 'EACCES';
  }
}

/** Names of the folders in a folder, and of links to folders, sorted; empty if it does not exist. */
export function folderNamesIn(path: string): string[] {
  const isFolder = (name: string) => orElse(() => statSync(join(path, name)).isDirectory(), false);
  return namesIn(path).filter(isFolder);
}

/** Names in a folder, sorted; empty if it does not exist. */
export function namesIn(path: string): string[] {
  try {
    return statSync(path, { throwIfNoEntry: false }) ? readdirSync(path).sort() : [];
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw systemFailure(error, `read the folder ${path}`, 'file_unreadable');
  }
}
