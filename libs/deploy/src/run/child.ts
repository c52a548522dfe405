/**
 * Running a program in a process group of its own, with a time limit. Ending it ends the whole tree.
 * Output goes to a file, never through a pipe: a daemon that kept the pipe open would block the
 * deploy for ever.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Between SIGTERM and SIGKILL, in milliseconds. */
export const GRACE = 10_000;

/** A program to run. */
export interface ChildSpec {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Descriptor for standard output and standard error. */
  readonly output: number;
  /** Time limit in milliseconds. */
  readonly timeout: number;
  /** Ends the tree early. */
  readonly signal: AbortSignal;
  /** `NAME=value` in the environment of the tree, to find processes that left the group. */
  readonly marker?: string;
}

/** How a program ended. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly timedOut: boolean;
  readonly interrupted: boolean;
  /** Why it could not be started: the system's error code, e.g. ENOENT. */
  readonly startError: string | undefined;
}

/** Whether it ended with status 0, uninterrupted. */
export function succeeded(exit: ProcessExit): boolean {
  return exit.code === 0 && !exit.timedOut && !exit.interrupted && !exit.startError;
}

/** `ended with status 2`, `was killed by SIGKILL (out of memory?)`, `ran out of time (30 s)`. */
export function describeExit(exit: ProcessExit, timeout: number): string {
  if (exit.startError) return `could not be started (${exit.startError})`;
  if (exit.interrupted) return 'was interrupted';
  if (exit.timedOut) return `ran out of time (${Math.round(timeout / 100) / 10} s)`;
  if (exit.signal === 'SIGKILL') return 'was killed by SIGKILL (out of memory?)';
  if (exit.signal) return `was ended by ${exit.signal}`;
  if (exit.code === 137) return 'ended with status 137 (killed; out of memory?)';
  return `ended with status ${exit.code}`;
}

/** Runs a program to its end. Never rejects: every error is in the result. */
export function runChild(spec: ChildSpec): Promise<ProcessExit> {
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
      // After an interruption the rest of the tree is killed; a step that ended normally keeps its daemons.
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

/** Signals a process group, if it still exists. */
export function endGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined || pid <= 1) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended already.
  }
}

/** Kills every process with the marker in its environment, in whatever process group. */
export function sweep(marker: string | undefined): void {
  if (marker === undefined) return;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    try {
      const environment = readFileSync(`/proc/${name}/environ`, 'latin1');
      if (environment.split('\0').includes(marker)) process.kill(Number(name), 'SIGKILL');
    } catch {
      // A process of another user, or one that has ended.
    }
  }
}
