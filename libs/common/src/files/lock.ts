/**
 * One kernel lock per file. flock(1) locks the inherited descriptor; since the lock belongs to the open
 * file description, this process keeps it after flock exits, and the kernel drops it however the
 * process dies. The file is never unlinked: two processes could then hold the lock.
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
import { orElse, orFail } from '../foundation/attempt.ts';
import { Failure, systemCode, systemWords } from '../foundation/failure.ts';
import type { Io } from '../foundation/io.ts';
import { jsonObject } from '../text/json.ts';
import { makeFolder, readTextIfThere } from './read.ts';
import { giveToOwnerOf } from './write.ts';

/** Exit status of flock(1) when the lock is held. */
const HELD = 75;

/** Held until it is released, with `using` at the end of the block, or the process ends. */
export interface Lock extends Disposable {
  /** Close-on-exec, so that no child keeps the lock. */
  readonly fd: number;
  /** Adds to what this process wrote about itself; nothing once it is released. */
  note(more: Holder): unknown;
  release(): void;
}

/** What a holder wrote about itself; only the kernel's lock counts. */
export interface Holder {
  pid?: number;
  command?: string;
  since?: string;
  [field: string]: unknown;
}

/**
 * Takes the lock, waiting up to `waitSeconds`. Undefined if another process holds it. Throws
 * `lock_unavailable` if flock(1) is missing.
 */
export function takeLock(path: string, waitSeconds: number, holder: Holder = {}): Lock | undefined {
  makeFolder(dirname(path));
  const { O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants;
  const how = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
  const fd = orFail(() => openSync(path, how, 0o600), `open the lock ${path}`);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new Failure('lock_unavailable', `${path} is not a file`);
    if (stat.uid === 0 && stat.size === 0 && stat.nlink === 1) giveToOwnerOf(dirname(path), fd);
    // Slow to load, and most commands take no lock.
    const { spawnSync } = process.getBuiltinModule('node:child_process');
    const flock = (seconds: number) =>
      spawnSync('flock', ['-x', ...(seconds > 0 ? ['-w', '1'] : ['-n']), '-E', String(HELD), '3'], {
        stdio: ['ignore', 'ignore', 'pipe', fd],
        encoding: 'utf8',
        // The environment may hold RUNNER_TOKEN.
        env: { PATH: process.env.PATH },
      });
    // A second at a time: after its caller was killed, flock must not keep waiting and get the lock.
    let done = flock(waitSeconds);
    for (let left = waitSeconds - 1; left > 0 && done.status === HELD; left -= 1)
      done = flock(left);
    if (done.status === HELD) {
      closeSync(fd);
      return undefined;
    }
    if (done.status !== 0) {
      const { error, signal, status, stderr } = done;
      if (systemCode(error) === 'ENOENT')
        throw new Failure('lock_unavailable', 'the command flock is missing: install util-linux');
      const ended = stderr?.trim() || `flock ended with ${signal ?? status}`;
      const why = error ? `flock cannot start: ${systemWords(error)}` : ended;
      throw new Failure('lock_unavailable', `cannot lock ${path}: ${why}`);
    }
    describe(fd, holder);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  let isHeld = true;
  const release = () => {
    if (isHeld) closeSync(fd);
    isHeld = false;
  };
  return {
    fd,
    note: (more) => isHeld && describe(fd, { ...holder, ...more }),
    release,
    [Symbol.dispose]: release,
  };
}

/** Like `takeLock`, but a held lock is the Failure `locked`, which names the holder. */
export function requireLock(
  path: string,
  what: string,
  waitSeconds: number,
  holder: Holder = {},
): Lock {
  const lock = takeLock(path, waitSeconds, holder);
  if (lock) return lock;
  const { pid, command, since } = awaitHolder(path);
  const by = pid ? `: held by process ${pid}` : '';
  const doing = command ? ` (${command}${since ? ` since ${since}` : ''})` : '';
  throw new Failure('locked', `${what} is busy${by}${doing}`);
}

/** Longest wait in ms until a new holder has written itself into the lock. */
const HOLDER_WAIT = 1_000;

/**
 * The holder of a lock. It writes itself into the file after taking the lock, so wait for that; empty if it
 * does not: what the file says then is about an earlier one.
 */
function awaitHolder(path: string): Holder {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; waited < HOLDER_WAIT && !liveHolder(path); waited += 10)
    Atomics.wait(pause, 0, 0, 10);
  return liveHolder(path) ?? {};
}

/** This process, as it writes itself into a lock. */
export function holderFor({ pid, now }: Pick<Io, 'pid' | 'now'>, command: string): Holder {
  return { pid, command, since: now().toISOString() };
}

/** The last process that wrote itself into the lock. */
export function holderOf(path: string): Holder {
  return orElse(() => jsonObject(readTextIfThere(path, 65_536) ?? '') ?? {}, {});
}

/**
 * The current holder, found without taking the lock: the process in the file, if it has the file open.
 * Of another user's process only its existence is known.
 */
export function liveHolder(path: string): (Holder & { pid: number }) | undefined {
  const { pid, ...holder } = holderOf(path);
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid < 1) return undefined;
  try {
    // /proc shows paths without links.
    const real = realpathSync(path);
    const open = readdirSync(`/proc/${pid}/fd`).some(
      // One may be closed meanwhile.
      (fd) => orElse(() => readlinkSync(`/proc/${pid}/fd/${fd}`), undefined) === real,
    );
    return open ? { ...holder, pid } : undefined;
  } catch (error) {
    return systemCode(error) === 'EACCES' ? { ...holder, pid } : undefined;
  }
}

function describe(fd: number, holder: Holder): void {
  try {
    const text = Buffer.from(`${JSON.stringify(holder)}\n`);
    writeSync(fd, text, 0, text.length, 0);
    // Rarely longer: cutting a file gives its blocks back, for which a later fdatasync would have to wait.
    if (fstatSync(fd).size > text.length) ftruncateSync(fd, text.length);
  } catch {
    // A full disk: the lock is held anyway, but its holder is not recorded.
  }
}
