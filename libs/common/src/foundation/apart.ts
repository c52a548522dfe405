/** Running a command in a process of its own, which outlives the one that was started. */
import type { Io } from './io.ts';

/** Set in the environment of a process that runs apart already. */
export const APART = 'RUNNER_APART';

/**
 * Runs this command again in a session of its own, with the same streams: killing this process does not
 * kill that one. Resolves its exit status, or undefined where no process can be started.
 */
export async function runApart(io: Io): Promise<number | undefined> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const ended = new Promise<[number | null, NodeJS.Signals | null] | undefined>((resolve) => {
    try {
      const child = spawn(process.execPath, [io.program, ...process.argv.slice(2)], {
        env: { ...io.env, [APART]: '1' },
        detached: true,
        stdio: 'inherit',
      });
      const remove = io.onSignal((signal) => child.kill(signal));
      child.once('error', () => resolve(undefined));
      child.once('exit', (status, signal) => {
        remove();
        resolve([status, signal]);
      });
    } catch {
      resolve(undefined);
    }
  });
  const [status, signal] = (await ended) ?? [];
  if (signal) process.kill(process.pid, signal);
  return status ?? undefined;
}
