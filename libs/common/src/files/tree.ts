/**
 * Folders that an app can change while runner works in them. Each is held by a descriptor: what is done
 * through it happens in it, whatever is renamed or replaced by a link meanwhile. Node has no openat(2);
 * a path below `/proc/self/fd` does the same, one level at a time.
 */
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lchownSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
  utimesSync,
} from 'node:fs';
import { Failure, systemCode } from '../foundation/failure.ts';
import { syncFolder } from './write.ts';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
/** Of Linux; Node does not name it. Opens what this user may not read, too. */
export const O_PATH = 0o10_000_000;

/** Folders below each other that are entered: each holds a descriptor. */
export const DEPTH_MAX = 200;

/** Name of an entry, without a slash: as bytes where it may not be UTF-8. */
export type Name = string | Buffer;

/** An open folder. Methods throw the error of the operating system; `close` it in the end. */
export class Folder {
  readonly #fd: number;
  readonly #depth: number;

  private constructor(fd: number, depth: number) {
    this.#fd = fd;
    this.#depth = depth;
  }

  /** Opens a folder by a path that no app can change; follows links. */
  static open(path: string): Folder {
    return new Folder(openSync(path, O_PATH | O_DIRECTORY), 0);
  }

  /** Opens the folder of this name; follows no link. Throws `file_unreadable` below DEPTH_MAX. */
  inner(name: Name): Folder {
    if (this.isDeepest)
      throw new Failure(
        'file_unreadable',
        `there are more than ${DEPTH_MAX} folders in each other`,
      );
    const fd = openSync(this.path(name), O_PATH | O_DIRECTORY | O_NOFOLLOW);
    return new Folder(fd, this.#depth + 1);
  }

  /** Opens a folder some levels below; `make` makes one that is missing. */
  below(
    names: readonly Name[],
    make?: (parent: Folder, name: Name, level: number) => void,
  ): Folder {
    let folder = new Folder(openSync(this.#path, O_PATH | O_DIRECTORY), this.#depth);
    for (const [level, name] of names.entries()) {
      try {
        if (make && folder.stat(name) === undefined) make(folder, name, level);
        const inner = folder.inner(name);
        folder.close();
        folder = inner;
      } catch (error) {
        folder.close();
        throw error;
      }
    }
    return folder;
  }

  /** Whether `inner` refuses every folder in this one. */
  get isDeepest(): boolean {
    return this.#depth >= DEPTH_MAX;
  }

  /** A path of an entry, for this process while it has the folder open. */
  path(name: Name): Name {
    if (!isName(name)) throw new TypeError('a path is not a name');
    const folder = `/proc/self/fd/${this.#fd}/`;
    return typeof name === 'string' ? folder + name : Buffer.concat([Buffer.from(folder), name]);
  }

  get #path(): string {
    return `/proc/self/fd/${this.#fd}/.`;
  }

  /** The entries in it, by their names as bytes, in any order; each may be of another kind by now. */
  entries(): Dirent<Buffer>[] {
    return readdirSync(this.#path, { encoding: 'buffer', withFileTypes: true });
  }

  /** The names in it, sorted. */
  names(): Buffer[] {
    return readdirSync(this.#path, { encoding: 'buffer' }).sort(Buffer.compare);
  }

  /** Of the folder itself. */
  get stats(): Stats {
    return fstatSync(this.#fd);
  }

  /** Of an entry, of a link itself; undefined if it does not exist. */
  stat(name: Name): Stats | undefined {
    return lstatSync(this.path(name), { throwIfNoEntry: false });
  }

  /** The target of a link. */
  target(name: Name): Buffer {
    return readlinkSync(this.path(name), { encoding: 'buffer' });
  }

  /** Opens the folder for a program that inherits it, as its `/proc/self/fd/N`. */
  openSelf(): number {
    return openSync(this.#path, O_RDONLY | O_DIRECTORY);
  }

  /** Opens a file for reading; follows no link and waits for no pipe. */
  openFile(name: Name): number {
    return openSync(this.path(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  }

  /** Makes a file and opens it for writing. */
  makeFile(name: Name): number {
    return openSync(this.path(name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  }

  makeFolder(name: Name, mode: number): void {
    mkdirSync(this.path(name), { mode });
  }

  makeLink(name: Name, target: Name): void {
    symlinkSync(target, this.path(name));
  }

  /** Moves an entry into a folder, in the place of what has the new name there. */
  move(name: Name, to: Folder, newName: Name): void {
    renameSync(this.path(name), to.path(newName));
  }

  chmod(mode: number): void {
    chmodSync(this.#path, mode);
  }

  chown(uid: number, gid: number): void {
    chownSync(this.#path, uid, gid);
  }

  /** Sets the time of the last change, in seconds since 1970. */
  setTime(mtime: number): void {
    utimesSync(this.#path, mtime, mtime);
  }

  /** `chown` of an entry, of a link itself. */
  chownEntry(name: Name, uid: number, gid: number): void {
    lchownSync(this.path(name), uid, gid);
  }

  /** `setTime` of an entry, of a link itself. */
  setTimeOf(name: Name, mtime: number): void {
    lutimesSync(this.path(name), mtime, mtime);
  }

  /** Removes an entry that is not a folder, if it is there. */
  unlink(name: Name): void {
    try {
      unlinkSync(this.path(name));
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error;
    }
  }

  /** Removes an empty folder. */
  removeEmpty(name: Name): void {
    rmdirSync(this.path(name));
  }

  /** Makes what was moved or made in it survive a power cut. */
  sync(): void {
    syncFolder(this.#path);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** Whether an entry can have this name: it leads to no other folder. */
export function isName(name: Name): boolean {
  return !/\/|\0|^\.{0,2}$/.test(typeof name === 'string' ? name : name.toString('latin1'));
}

/** What `use` makes of a folder, which is closed then. */
export function inFolder<T>(folder: Folder, use: (folder: Folder) => T): T {
  try {
    return use(folder);
  } finally {
    folder.close();
  }
}
