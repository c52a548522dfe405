/**
 * One kernel lock per file. flock(1) locks the inherited descriptor; the lock belongs to the open
 * file description, so it stays with this process after the helper has ended and the kernel drops
 * it however the process dies. The file is never unlinked: two holders would be possible.
 */
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { Failure, systemCode, systemFailure } from '../foundation/failure.ts';
import { makeFolder, readIfThere } from './read.ts';

/** Exit status that flock(1) is told to use when the lock is held. */
const HELD = 75;

/** A lock that is held until it is released or the process ends. */
export interface Lock {
  /** The locked descriptor; close-on-exec, so no child keeps the lock. */
  readonly fd: number;
  release(): void;
}

/** What a holder wrote about itself. It informs; the kernel decides. */
export interface Holder {
  pid?: number;
  command?: string;
  since?: string;
  [field: string]: unknown;
}

/**
 * Takes the lock, waiting at most `waitSeconds` (0: not at all). Undefined when another process
 * holds it. Throws `lock_unavailable` where flock(1) is missing.
 */
export function takeLock(path: string, waitSeconds: number, holder: Holder = {}): Lock | undefined {
  makeFolder(dirname(path));
  let fd: number;
  try {
    fd = openSync(
      path,
      constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK,
      0o600,
    );
  } catch (error) {
    throw systemFailure(error, `open the lock ${path}`);
  }
  try {
    if (!fstatSync(fd).isFile()) throw new Failure('lock_unavailable', `${path} is not a file`);
    // Loaded here: most commands that know of locks take none.
    const { spawnSync } = process.getBuiltinModule('node:child_process');
    const flock = (seconds: number) =>
      spawnSync('flock', ['-x', ...(seconds > 0 ? ['-w', '1'] : ['-n']), '-E', String(HELD), '3'], {
        stdio: ['ignore', 'ignore', 'ignore', fd],
        // Nothing else: RUNNER_TOKEN may stand in the environment.
        env: { PATH: process.env.PATH },
      });
    // A second at a time: a helper whose caller was killed must not wait on, and get the lock.
    let done = flock(waitSeconds);
    for (let left = waitSeconds - 1; left > 0 && done.status === HELD; left -= 1)
      done = flock(left);
    if (done.status === HELD) {
      closeSync(fd);
      return undefined;
    }
    if (done.status !== 0) {
      const missing = systemCode(done.error) === 'ENOENT';
      throw new Failure(
        'lock_unavailable',
        missing
          ? 'the command flock is missing: install util-linux'
          : `cannot lock ${path}: flock ended with ${done.signal ?? done.status}`,
      );
    }
    describe(fd, holder);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  return { fd, release: () => closeSync(fd) };
}

/** Like `takeLock`, but a held lock is the Failure `locked`, naming who holds it. */
export function requireLock(
  path: string,
  what: string,
  waitSeconds: number,
  holder: Holder = {},
): Lock {
  const lock = takeLock(path, waitSeconds, holder);
  if (lock) return lock;
  const { pid, command, since } = introduced(path);
  const by = pid ? `: held by process ${pid}` : '';
  const doing = command ? ` (${command}${since ? ` since ${since}` : ''})` : '';
  throw new Failure('locked', `${what} is busy${by}${doing}`);
}

/** Longest wait for whoever has just taken a lock to write itself into it, in milliseconds. */
const INTRODUCTION = 1_000;

/**
 * Who holds a lock that was found held. A holder writes itself into the file after it got the lock:
 * until then nobody stands there, or one that is gone.
 */
function introduced(path: string): Holder {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; waited < INTRODUCTION && !liveHolder(path); waited += 10)
    Atomics.wait(pause, 0, 0, 10);
  return holderOf(path);
}

/** Who wrote itself into the lock last. */
export function holderOf(path: string): Holder {
  try {
    const value: unknown = JSON.parse(readIfThere(path, 65_536)?.toString('utf8') || '{}');
    return value !== null && typeof value === 'object' ? (value as Holder) : {};
  } catch {
    return {};
  }
}

/**
 * Who holds a lock now, found out without taking it: the one that wrote itself into the file, if that
 * process has the file open. Of another user's process only that it runs can be seen.
 */
export function liveHolder(path: string): (Holder & { pid: number }) | undefined {
  const { pid, ...holder } = holderOf(path);
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid < 1) return undefined;
  try {
    // The kernel knows a file by its name without links.
    const real = realpathSync(path);
    const open = readdirSync(`/proc/${pid}/fd`).some(
      (fd) => linkAt(`/proc/${pid}/fd/${fd}`) === real,
    );
    return open ? { ...holder, pid } : undefined;
  } catch (error) {
    return systemCode(error) === 'EACCES' ? { ...holder, pid } : undefined;
  }
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // Closed meanwhile.
    return undefined;
  }
}

function describe(fd: number, holder: Holder): void {
  try {
    ftruncateSync(fd, 0);
    writeSync(fd, `${JSON.stringify(holder)}\n`, 0);
  } catch {
    // A full disk: the lock is held all the same, only nobody can read by whom.
  }
}
