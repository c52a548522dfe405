/** Who is at work, as the kernel knows it: nothing that a variable of the environment says counts. */
import { readFileSync } from 'node:fs';
import { orElse } from '../foundation/attempt.ts';
import type { Io } from '../foundation/io.ts';
import { loginName } from '../foundation/user.ts';
import { parentOf, startTimeOf } from './process.ts';

/** A loginuid that was never set. */
const UNSET = 4_294_967_295;

/** Real and effective uid of a process. */
function uidsOf(pid: number): readonly number[] {
  const status = orElse(() => readFileSync(`/proc/${pid}/status`, 'latin1'), '');
  return (/^Uid:\s+(\d+)\s+(\d+)/m.exec(status) ?? []).slice(1).map(Number);
}

/** sudo is the only program that is root under this name and has a parent who asked for it. */
function isSudo(pid: number): boolean {
  const name = orElse(() => readFileSync(`/proc/${pid}/comm`, 'latin1').trim(), '');
  return name === 'sudo' && uidsOf(pid)[1] === 0;
}

/** This process and those above it, up to the first. */
function* ancestry(pid: number | undefined): Generator<number> {
  for (let at = pid; at !== undefined && at > 0; at = parentOf(at)) yield at;
}

/**
 * The user's name: of who called the nearest sudo above this process, else of the login that the kernel
 * keeps in the loginuid, else of the effective user. A uid without a name is its digits.
 */
export function personOf(io: Pick<Io, 'pid' | 'uid'>): string {
  for (const pid of ancestry(parentOf(io.pid))) {
    if (!isSudo(pid)) continue;
    // With a terminal of its own sudo is two processes.
    const caller = [...ancestry(pid)].find((each) => !isSudo(each));
    const [uid] = caller === undefined ? [] : uidsOf(caller);
    return userName(uid ?? 0);
  }
  const login = Number(orElse(() => readFileSync('/proc/self/loginuid', 'latin1').trim(), UNSET));
  return login === UNSET || Number.isNaN(login) ? loginName(io) : userName(login);
}

/** The name of a user; its digits if it has none. */
export function userName(uid: number): string {
  const passwd = orElse(() => readFileSync('/etc/passwd', 'utf8'), '');
  const line = passwd.split('\n').find((each) => each.split(':')[2] === String(uid));
  return line?.split(':')[0] ?? lookedUp(uid) ?? String(uid);
}

export function isUser(name: string): boolean {
  const passwd = orElse(() => readFileSync('/etc/passwd', 'utf8'), '');
  return passwd.split('\n').some((line) => line.split(':')[0] === name) || lookedUp(name) === name;
}

/** A user of a directory such as LDAP. */
function lookedUp(user: number | string): string | undefined {
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const { stdout } = spawnSync('getent', ['passwd', '--', String(user)], {
    encoding: 'utf8',
    env: {},
  });
  return stdout?.split(':')[0] || undefined;
}

/** What root's launcher leaves for a process that it makes another user: its start time, by its pid. */
const ROOT_MARKS = '/run/runner-root';

/** Whether root typed the command: this process is root's, or root's launcher started it. */
export function isRoots(io: Pick<Io, 'pid' | 'uid'>): boolean {
  if (io.uid === 0) return true;
  const { statSync } = process.getBuiltinModule('node:fs');
  return [...ancestry(io.pid)].some((pid) =>
    orElse(() => {
      const path = `${ROOT_MARKS}/${pid}`;
      const isOwn = [ROOT_MARKS, path].every((each) => statSync(each).uid === 0);
      return isOwn && readFileSync(path, 'latin1').trim() === startTimeOf(pid);
    }, false),
  );
}
