/**
 * Running a program in a process group of its own, with a time limit. Ending it ends the whole tree.
 * Output goes to a file, never through a pipe: a daemon that kept the pipe open would block the
 * deploy for ever.
 */
import type { ChildProcess } from 'node:child_process';
import { type Spawned, spawnDetached } from './inside.ts';
import { endWithVariable, STEP, signal } from './processes.ts';

/** Between SIGTERM and SIGKILL, in milliseconds. */
export const GRACE = 10_000;

/** A program to run. */
export interface ChildSpec extends Spawned {
  /** Time limit in milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  /** What it started may keep running once it has succeeded: it brought up the app. */
  readonly leavesApp: boolean;
}

/** How a program ended. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly timedOut: boolean;
  readonly interrupted: boolean;
  /** Why it could not be started: the system's error code, e.g. ENOENT. */
  readonly startError: string | undefined;
  /** Bubblewrap could not make its sandbox, or not start it there: nothing of the command ran. */
  readonly isSandboxFailure: boolean;
}

/** Whether it ended with status 0, uninterrupted. */
export function succeeded(exit: ProcessExit): boolean {
  return exit.code === 0 && !exit.timedOut && !exit.interrupted && !exit.startError;
}

/** `ended with status 2`, `was killed by SIGKILL (out of memory?)`, `ran out of time (30 s)`. */
export function describeExit(exit: ProcessExit, timeout: number): string {
  if (exit.startError) return `could not be started (${exit.startError})`;
  if (exit.isSandboxFailure) return 'could not be started in the sandbox';
  if (exit.interrupted) return 'was interrupted';
  if (exit.timedOut) return `ran out of time (${Math.round(timeout / 100) / 10} s)`;
  if (exit.signal === 'SIGKILL') return 'was killed by SIGKILL (out of memory?)';
  if (exit.signal) return `was ended by ${exit.signal}`;
  if (exit.code === 137) return 'ended with status 137 (killed; out of memory?)';
  return `ended with status ${exit.code}`;
}

/** Distinguishes the programs that this process runs. */
let runs = 0;

/** Runs a program to its end, however that is. Rejects if the sandbox cannot be made. */
export function runChild(spec: ChildSpec): Promise<ProcessExit> {
  runs += 1;
  const id = `${process.pid}-${Date.now()}-${runs}`;
  return new Promise((resolve) => {
    let timedOut = false;
    let startError: string | undefined;
    const env = { ...spec.env, [STEP]: id };
    const { child, inside } = spawnDetached({ ...spec, env, isWaitedFor: true });
    let killer: NodeJS.Timeout | undefined;
    const kill = () => {
      inside?.kill();
      endGroup(child.pid, 'SIGKILL');
      // What has left the group.
      endWithVariable(STEP, id);
    };
    const stop = () => {
      if (inside) inside.signal('SIGTERM');
      else endGroup(child.pid, 'SIGTERM');
      killer ??= setTimeout(kill, GRACE);
    };
    const timer = setTimeout(() => {
      timedOut = true;
      stop();
    }, spec.timeout);
    spec.signal.addEventListener('abort', stop, { once: true });
    const finish = async (code: number | null, signal: NodeJS.Signals | null) => {
      clearTimeout(timer);
      clearTimeout(killer);
      spec.signal.removeEventListener('abort', stop);
      const interrupted = spec.signal.aborted;
      if (timedOut || interrupted || code !== 0 || !spec.leavesApp) kill();
      const hasFailed = code !== null && code !== 0 && !timedOut && !interrupted;
      const isSandboxFailure = hasFailed && inside !== undefined && !(await inside.ran);
      resolve({ code, signal, timedOut, interrupted, startError, isSandboxFailure });
    };
    child.once('error', (error: NodeJS.ErrnoException) => {
      if (child.pid !== undefined) return;
      startError = error.code ?? 'unknown error';
      void finish(null, null);
    });
    child.once('exit', (code, signal) => void finish(code, signal));
    if (spec.signal.aborted) stop();
  });
}

/** The status with which a child ends; null after a signal, or if it could not be started. */
export function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
}

/** Signals a process group, if it still exists. */
export function endGroup(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid !== undefined && pid > 1) signal(-pid, name);
}
