/** Queries a supervisor, with a time limit. */
import { spawnSync } from 'node:child_process';

/** An answer takes milliseconds; a supervisor that hangs must not block a deploy, or its lock. */
const PATIENCE = 30_000;

/** Runs a supervisor's client for up to 30 seconds; `status` is null if it did not answer. Blocks. */
export function ask(
  program: string,
  args: readonly string[],
  { env, cwd, most = 1_048_576 }: { env: Record<string, string>; cwd?: string; most?: number },
): { readonly status: number | null; readonly stdout: string } {
  const { status, stdout } = spawnSync(program, args, {
    env,
    cwd,
    encoding: 'utf8',
    maxBuffer: most,
    timeout: PATIENCE,
    killSignal: 'SIGKILL',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return { status, stdout: stdout ?? '' };
}
