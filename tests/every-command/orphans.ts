/** Processes that still work on a root. */
import { setTimeout as sleep } from 'node:timers/promises';
import { processesIn } from '@runner/testing/processes';

/** Milliseconds after which a process that still runs was left behind. */
const PATIENCE = 60_000;

/**
 * The command lines that a command left running on a root, once all that is about to end has ended;
 * `others` are not its own.
 */
export async function orphansOf(root: string, others?: RegExp): Promise<string[]> {
  const deadline = performance.now() + PATIENCE;
  for (;;) {
    const left = processesIn(root)
      .map(({ command }) => command)
      .filter((line) => !others?.test(line));
    if (left.length === 0 || performance.now() > deadline) return left;
    await sleep(20);
  }
}
