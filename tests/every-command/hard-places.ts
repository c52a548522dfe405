/** Roots on which nothing can be written: a full disk, a read-only file system, closed folders. */
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { atExit } from '@runner/testing/cleanup';
import { pathsBelow, temporaryFolder } from '@runner/testing/temp';

/** Nobody: an account that every system has and that owns nothing. */
export const NOBODY = 65_534;
export const isRoot = process.getuid?.() === 0;

/** A small file system of its own; undefined where it cannot be mounted. */
export function smallDisk(): string | undefined {
  const folder = temporaryFolder('disk');
  const options = 'size=48m,mode=0755';
  if (!isRoot || spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'none', folder]).status !== 0)
    return undefined;
  // Lazily: a process that a failed test left behind must not keep it.
  atExit(() => spawnSync('umount', ['-l', folder]));
  return folder;
}

export interface HardPlace {
  readonly name: string;
  /** Makes it hard to write below `disk/root`. */
  begin(disk: string): void;
  /** Takes that back. */
  end(disk: string): void;
  /** Commands that write and can do their work anyway. */
  readonly works: readonly string[];
  /** Commands that change nothing of the root, and need a lock in it, or a place for their file. */
  readonly hinders?: readonly string[];
  /** What the others say. */
  readonly words: RegExp;
  /** The command runs as this user. */
  readonly uid?: number;
}

const ballast = (disk: string) => join(disk, 'ballast');
const remount = (disk: string, mode: 'ro' | 'rw') => {
  const { status, stderr } = spawnSync('mount', ['-o', `remount,${mode}`, disk]);
  if (status !== 0) throw new Error(`remount ${mode}: ${stderr}`);
};

function everyFolder(root: string, mode: number): void {
  for (const path of ['.', ...pathsBelow(root)]) {
    if (lstatSync(join(root, path)).isDirectory()) chmodSync(join(root, path), mode);
  }
}

export const FULL_DISK: HardPlace = {
  name: 'a full disk',
  begin(disk) {
    writeFileSync(ballast(disk), '');
    for (const size of [1_048_576, 65_536, 4096, 1]) {
      const piece = Buffer.alloc(size);
      try {
        for (;;) appendFileSync(ballast(disk), piece);
      } catch {
        // No piece of this size goes in any more.
      }
    }
  },
  end: (disk) => rmSync(ballast(disk)),
  works: ['remove', 'rollback', 'jobs resume', 'notify flush'],
  words: /no space left on the disk|No space left on device/,
};

export const READ_ONLY: HardPlace = {
  name: 'a read-only file system',
  begin: (disk) => remount(disk, 'ro'),
  end: (disk) => remount(disk, 'rw'),
  works: [],
  hinders: ['backup', 'resume'],
  words: /the file system is read-only/,
};

export const CLOSED_FOLDERS: HardPlace = {
  name: 'folders without rights',
  begin(disk) {
    const root = join(disk, 'root');
    for (const path of ['.', ...pathsBelow(root)]) {
      if (!lstatSync(join(root, path)).isSymbolicLink())
        chownSync(join(root, path), NOBODY, NOBODY);
    }
    everyFolder(root, 0o555);
  },
  end: (disk) => everyFolder(join(disk, 'root'), 0o755),
  // Its files are its own.
  works: ['audit emit', 'rollback', 'jobs resume'],
  hinders: ['backup'],
  words: /permission denied/i,
  uid: NOBODY,
};

/** An empty folder of the disk for a root. */
export function emptied(disk: string): string {
  const root = join(disk, 'root');
  rmSync(root, { recursive: true, force: true });
  mkdirSync(disk, { recursive: true });
  return root;
}
