/**
 * The variables of a command, on a descriptor that `bwrap --args` reads: in bubblewrap's own environment
 * they could change what it does, and others can read a command line.
 */
import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { writeFully } from '@runner/common/files/write';
import { Failure } from '@runner/common/foundation/failure';
import type { Env } from '@runner/common/foundation/io';
import { memoryFolders } from './hidden.ts';

/** Variables of a program. */
export type Variables = Readonly<Record<string, string>>;

/** What bubblewrap itself gets: that by which runner finds the processes of a deploy. */
export function marksIn(env: Variables): Variables {
  return Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('RUNNER_')));
}

/** A descriptor that sets the variables. Throws `not_writable`. */
export function openSettings(env: Variables, outer: Env): number {
  const options = Object.entries(env).flatMap((pair) => ['--setenv', ...pair]);
  return openInMemory(Buffer.from(options.map((each) => `${each}\0`).join('')), outer);
}

/** A descriptor of a nameless file in memory, which commands of a commit cannot find. Throws `not_writable`. */
export function openInMemory(bytes: Uint8Array, outer: Env): number {
  for (const folder of ['/dev/shm', ...memoryFolders(outer)]) {
    const fd = nameless(folder, bytes);
    if (fd !== undefined) return fd;
  }
  const advice =
    '/dev/shm or $XDG_RUNTIME_DIR must be a tmpfs with space that this user can write to';
  throw new Failure('not_writable', `a folder in memory is needed: ${advice}`);
}

/** undefined if nothing can be written there. */
function nameless(folder: string, bytes: Uint8Array): number | undefined {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_RDWR } = constants;
  const path = join(folder, `.runner-${process.pid}-${Math.random()}`);
  let fd: number | undefined;
  try {
    fd = openSync(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    unlinkSync(path);
    writeFully(fd, bytes);
    // At its beginning.
    return openSync(`/proc/self/fd/${fd}`, O_RDONLY);
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
