/** Waiting for a condition, for tests: never for a guessed number of milliseconds. */
import { readFileSync } from 'node:fs';

/** Longest wait for a condition, in milliseconds: the machine may be busy with other things. */
const PATIENCE = 180_000;
/** Milliseconds between two looks. */
const INTERVAL = 10;

/** Resolves as soon as the condition holds; throws `otherwise` after three minutes without it. */
export async function until(
  condition: () => unknown,
  otherwise: string | (() => string),
): Promise<void> {
  const end = performance.now() + PATIENCE;
  while (!(await condition())) {
    if (performance.now() > end)
      throw new Error(typeof otherwise === 'string' ? otherwise : otherwise());
    await new Promise((resolve) => setTimeout(resolve, INTERVAL));
  }
}

/** Whether a process runs; one that has ended but has not been waited for (a zombie) does not. */
export function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z');
  } catch {
    return false;
  }
}
