/** What of this process does not reach the programs that a repository decides. */
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { closeSync, readdirSync, readFileSync } from 'node:fs';
import { orElse } from '@runner/common/foundation/attempt';
import type { Confinement, ProgramCall } from '../sandbox/sandbox.ts';

/** O_CLOEXEC in /proc/PID/fdinfo. */
const CLOSED_ON_EXEC = 0o2_000_000;

let hasLimits = false;

/**
 * Starts a command, in the sandbox if it is confined, and without core dumps from here on. `start` gets
 * what to start, and the descriptors that it must have after the first three.
 */
export function startCutOff<T>(
  command: ProgramCall,
  confinement: Confinement | undefined,
  start: (command: ProgramCall, descriptors: readonly number[]) => T,
): T {
  if (!hasLimits) forbidCores();
  hasLimits = true;
  const wrapped = confinement?.wrap(command);
  if (wrapped === undefined) return cutOff(() => start(command, []));
  try {
    return cutOff(() => start(wrapped, [wrapped.settings]));
  } finally {
    closeSync(wrapped.settings);
  }
}

interface CutOffOptions extends Pick<SpawnOptions, 'detached'> {
  /** Descriptors that it has, too, such as a lock's: that is held until it ends, also without us. */
  readonly kept?: readonly number[];
}

/** Starts a command in this way as a process whose first three descriptors are these. */
export function spawnCutOff(
  command: ProgramCall,
  confinement: Confinement | undefined,
  stdio: readonly ('ignore' | 'pipe')[],
  { kept = [], ...options }: CutOffOptions = {},
): ChildProcess {
  return startCutOff(command, confinement, ({ file, args, cwd, env }, descriptors) =>
    spawn(file, args, { ...options, cwd, env, stdio: [...stdio, ...descriptors, ...kept] }),
  );
}

/**
 * Starts a program without the descriptors that this process has inherited, and with the umask that a
 * commit and its build expect.
 */
export function cutOff<T>(start: () => T): T {
  closeInherited();
  const umask = process.umask(0o022);
  try {
    return start();
  } finally {
    process.umask(umask);
  }
}

/** Node closes its own on exec; those of the caller would stay open. */
function closeInherited(): void {
  for (const name of readdirSync('/proc/self/fd')) {
    const fd = Number(name);
    if (fd > 2 && isInherited(fd)) closeSync(fd);
  }
}

function isInherited(fd: number): boolean {
  // That of the listing itself is no longer there.
  const text = orElse(() => readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'), '');
  const flags = /^flags:\s*(\d+)/m.exec(text)?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) === 0;
}

/** A build could otherwise end this process so that its memory is written to a file. */
function forbidCores(): void {
  const args = ['--core=0:0', '--pid', String(process.pid)];
  spawnSync('prlimit', args, { stdio: 'ignore', env: { PATH: '/usr/bin:/bin' } });
}
