/** Running a command in a process of its own, which outlives the one that was started. */
import type { Env, Io } from './io.ts';

/** Set in the environment of a process that runs apart already. */
export const APART = 'RUNNER_APART';

/** What the process needs of the environment, which may hold secrets. */
const PASSED =
  /^(?:PATH|HOME|USER|LOGNAME|TMPDIR|LANG|LC_\w+|TZ|TERM|COLORTERM|NO_COLOR|FORCE_COLOR|NODE_\w+|SSL_CERT_\w+|(?:https?|no|all)_proxy|CREDENTIALS_DIRECTORY|RUNNER_(?:ROOT|ETC|MKEY_FILE|TELEGRAM_API_URL|CODE_HOST_(?:API|GIT)_URL))$/i;

/** The variables that a process of its own gets: no token, and no other secret. */
export function passed(env: Env): Record<string, string | undefined> {
  const names = Object.keys(env).filter((name) => PASSED.test(name));
  return Object.fromEntries(names.map((name) => [name, env[name]]));
}

/**
 * Runs this command again in a session of its own, with the same streams: killing this process does not
 * kill that one. Resolves its exit status, or undefined where no process can be started.
 */
export async function runApart(io: Io): Promise<number | undefined> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const ended = new Promise<[number | null, NodeJS.Signals | null] | undefined>((resolve) => {
    try {
      const child = spawn(process.execPath, [io.program, ...process.argv.slice(2)], {
        env: { ...passed(io.env), [APART]: '1' },
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
