/**
 * Running a program whose output goes to a descriptor, in a process group of its own, with a time
 * limit and an end that takes the whole tree. Output never goes through a pipe: a daemon that keeps
 * it open would hold up the deploy for ever.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** How long a tree may take to end after SIGTERM before it is killed, in milliseconds. */
export const GRACE = 10_000;

/** A program to run, and how long it may take. */
export interface ChildSpec {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Descriptor for standard output and standard error. */
  readonly output: number;
  /** In milliseconds. */
  readonly timeout: number;
  /** Ends the tree early. */
  readonly signal: AbortSignal;
  /** `NAME=value` in the environment of the whole tree: what left the group is found by it. */
  readonly marker?: string;
}

/** How a program ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly timedOut: boolean;
  readonly interrupted: boolean;
  /** It could not be started: the operating system's code, e.g. ENOENT. */
  readonly startError: string | undefined;
}

/** Whether it ran to its end by itself, with status 0. */
export function succeeded(ending: Ending): boolean {
  return ending.code === 0 && !ending.timedOut && !ending.interrupted && !ending.startError;
}

/** `ended with status 2`, `was killed by SIGKILL (out of memory?)`, `ran out of time (30 s)`. */
export function endingWords(ending: Ending, timeout: number): string {
  if (ending.startError) return `could not be started (${ending.startError})`;
  if (ending.interrupted) return 'was interrupted';
  if (ending.timedOut) return `ran out of time (${Math.round(timeout / 100) / 10} s)`;
  if (ending.signal === 'SIGKILL') return 'was killed by SIGKILL (out of memory?)';
  if (ending.signal) return `was ended by ${ending.signal}`;
  if (ending.code === 137) return 'ended with status 137 (killed; out of memory?)';
  return `ended with status ${ending.code}`;
}

/** Runs a program to its end. Never rejects: what went wrong is in the ending. */
export function runChild(spec: ChildSpec): Promise<Ending> {
  return new Promise((resolve) => {
    let timedOut = false;
    let startError: string | undefined;
    const child = spawn(spec.file, [...spec.args], {
      cwd: spec.cwd,
      env: spec.env,
      detached: true,
      stdio: ['ignore', spec.output, spec.output],
    });
    let killer: NodeJS.Timeout | undefined;
    const stop = () => {
      endGroup(child.pid, 'SIGTERM');
      killer ??= setTimeout(() => {
        endGroup(child.pid, 'SIGKILL');
        sweep(spec.marker);
      }, GRACE);
    };
    const timer = setTimeout(() => {
      timedOut = true;
      stop();
    }, spec.timeout);
    spec.signal.addEventListener('abort', stop, { once: true });
    const finish = (code: number | null, signal: NodeJS.Signals | null) => {
      clearTimeout(timer);
      clearTimeout(killer);
      spec.signal.removeEventListener('abort', stop);
      const interrupted = spec.signal.aborted;
      // What was told to end and did not is ended now; a step that ended by itself keeps its daemons.
      if (timedOut || interrupted) {
        endGroup(child.pid, 'SIGKILL');
        sweep(spec.marker);
      }
      resolve({ code, signal, timedOut, interrupted, startError });
    };
    child.once('error', (error: NodeJS.ErrnoException) => {
      if (child.pid !== undefined) return;
      startError = error.code ?? 'unknown error';
      finish(null, null);
    });
    child.once('exit', finish);
    if (spec.signal.aborted) stop();
  });
}

/** Signals a process group; that it is gone is fine. */
export function endGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined || pid <= 1) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // Gone already.
  }
}

/** Kills every process that carries the marker in its environment, whatever group it fled to. */
export function sweep(marker: string | undefined): void {
  if (marker === undefined) return;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    try {
      const environment = readFileSync(`/proc/${name}/environ`, 'latin1');
      if (environment.split('\0').includes(marker)) process.kill(Number(name), 'SIGKILL');
    } catch {
      // Another user's process, or gone.
    }
  }
}
