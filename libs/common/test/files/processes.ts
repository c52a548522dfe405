/**
 * A test file that needs a second process starts itself again with a role: `process.argv[2]` names
 * it, and the file then plays it instead of running its tests.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** The role that this process was started for; undefined in the process that runs the tests. */
export const role = process.argv[2];

/** What the role was given. */
export const roleArgs: readonly string[] = process.argv.slice(3);

/** Starts the running test file again in a role; its stderr is the test's own. */
export function startRole(
  name: string,
  args: readonly string[] = [],
  env = process.env,
): ChildProcess {
  return spawn(process.execPath, [__filename, name, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env,
  });
}

/** Everything that a child writes to stdout until it has ended; throws unless it ends with 0. */
export async function outputOf(child: ChildProcess): Promise<string> {
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  const [status, signal] = (await once(child, 'close')) as [number | null, string | null];
  if (status !== 0) throw new Error(`a child ended with ${status ?? signal}`);
  return Buffer.concat(chunks).toString();
}

/**
 * Kills a child with SIGKILL `milliseconds` after its first output and resolves what it had
 * written. A child that ends on its own fails the test.
 */
export async function killedAfter(child: ChildProcess, milliseconds: number): Promise<string> {
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stdout?.once('data', () => setTimeout(() => child.kill('SIGKILL'), milliseconds));
  const [status, signal] = (await once(child, 'close')) as [number | null, string | null];
  if (signal !== 'SIGKILL')
    throw new Error(`a child ended with ${status ?? signal} before it was killed`);
  return Buffer.concat(chunks).toString();
}
