/** Asking a supervisor how things are: a short question, with a limit to how long it may think. */
import { spawnSync } from 'node:child_process';

/** An answer takes milliseconds; a supervisor that hangs must not hold up a deploy, or its lock. */
const PATIENCE = 30_000;

/** What a supervisor answered; `status` is null when it did not, or could not be asked. */
export interface Answer {
  readonly status: number | null;
  readonly stdout: string;
}

/** Runs a supervisor's program to its end, for 30 seconds at most. Blocks. */
export function ask(
  program: string,
  args: readonly string[],
  { env, cwd, most = 1_048_576 }: { env: Record<string, string>; cwd?: string; most?: number },
): Answer {
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
