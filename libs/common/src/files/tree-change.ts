/** Removes and copies trees that an app can change meanwhile: see `tree.ts`. */
import { fchmodSync, fstatSync, futimesSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { closing } from '../foundation/attempt.ts';
import { systemCode, systemWords } from '../foundation/failure.ts';
import { mountedBelow } from './mounts.ts';
import { readRange } from './read.ts';
import { Folder, inFolder, type Name } from './tree.ts';
import { writeFully } from './write.ts';

/**
 * Removes a folder tree, read-only folders too, or a file, by a path whose folder no app can change. A tree in
 * which a disk, a bucket or another folder is mounted is left whole: the files there would go too. Never throws
 * an error of the system: returns why something is left, a sentence, or undefined.
 */
export function removeTree(path: string): string | undefined {
  try {
    const mount = mountedBelow(path);
    if (mount !== undefined)
      return `${path} cannot be removed: ${mount} is mounted there: unmount it first`;
    inFolder(Folder.open(dirname(path)), (parent) => removeEntry(parent, basename(path)));
    return undefined;
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    return `${path} cannot be removed: ${systemWords(error)}`;
  }
}

/** How often an entry is tried that something else changes at the same moment. */
const TRIES = 1_000;
const CHANGED = ['ENOTDIR', 'ELOOP', 'ENOTEMPTY', 'EEXIST'];

/** What one removal has met. */
interface Removal {
  /** The outermost folder that is removed. */
  top?: Folder;
  /** Folders that were moved there, from where no more can be entered. */
  moved: number;
  error?: unknown;
}

/**
 * Removes an entry with everything below it, however deep. Throws the first error of the system, after
 * removing everything else.
 */
export function removeEntry(folder: Folder, name: Name): void {
  const removal: Removal = { moved: 0 };
  remove(folder, name, removal);
  if (removal.error !== undefined) throw removal.error;
}

/** Returns whether the entry is gone. */
function remove(folder: Folder, name: Name, removal: Removal): boolean {
  for (let tries = 1; ; tries += 1) {
    try {
      return removeOnce(folder, name, removal);
    } catch (error) {
      const code = systemCode(error);
      if (code === undefined) throw error;
      if (code === 'ENOENT') return true;
      if (CHANGED.includes(code) && tries < TRIES) continue;
      removal.error ??= error;
      return false;
    }
  }
}

function removeOnce(folder: Folder, name: Name, removal: Removal): boolean {
  try {
    folder.unlink(name);
    return true;
  } catch (error) {
    if (systemCode(error) !== 'EISDIR') throw error;
  }
  const isEmpty = inFolder(folder.inner(name), (inner) => {
    makeWritable(inner);
    if (removal.top !== undefined && inner.isDeepest) return undefined;
    return removal.top === undefined ? emptyTop(inner, removal) : empty(inner, removal);
  });
  if (isEmpty) folder.removeEmpty(name);
  else if (isEmpty === undefined) {
    removal.moved += 1;
    folder.move(name, removal.top as Folder, `.removed-${removal.moved}`);
  }
  return isEmpty !== false;
}

/** A build may leave folders that even their owner cannot write, as `go mod download` does. */
function makeWritable(folder: Folder): void {
  try {
    if ((folder.stats.mode & 0o700) !== 0o700) folder.chmod(0o700);
  } catch {
    // Another user's folder: removing what is in it reports that.
  }
}

function emptyTop(top: Folder, removal: Removal): boolean {
  removal.top = top;
  for (;;) {
    const before = removal.moved;
    const isEmpty = empty(top, removal);
    if (!isEmpty || removal.moved === before) return isEmpty;
  }
}

function empty(folder: Folder, removal: Removal): boolean {
  let isEmpty = true;
  for (const name of folder.names()) isEmpty = remove(folder, name, removal) && isEmpty;
  return isEmpty;
}

const BLOCK = 262_144;

/** Where a copy begins and ends. */
interface Copy {
  readonly from: Folder;
  readonly name: Name;
  readonly to: Folder;
  readonly newName: Name;
}

/** Copies an entry with everything below it; modes and times stay, links are copied as links. */
export function copyEntry({ from, name, to, newName }: Copy): void {
  const stat = from.stat(name);
  if (stat?.isSymbolicLink()) to.makeLink(newName, from.target(name));
  else if (stat?.isFile()) copyFile({ from, name, to, newName });
  else if (stat?.isDirectory()) {
    to.makeFolder(newName, 0o700);
    inFolder(from.inner(name), (source) =>
      inFolder(to.inner(newName), (target) => {
        for (const each of source.names())
          copyEntry({ from: source, name: each, to: target, newName: each });
        const { mode, mtimeMs } = source.stats;
        target.chmod(mode & 0o7777);
        target.setTime(mtimeMs / 1000);
      }),
    );
  }
}

function copyFile({ from, name, to, newName }: Copy): void {
  const source = from.openFile(name);
  using _source = closing(source);
  const target = to.makeFile(newName);
  using _target = closing(target);
  for (let position = 0; ; ) {
    const bytes = readRange(source, position, BLOCK);
    if (bytes.length === 0) break;
    writeFully(target, bytes);
    position += bytes.length;
  }
  const { mode, atime, mtime } = fstatSync(source);
  fchmodSync(target, mode & 0o7777);
  futimesSync(target, atime, mtime);
}
