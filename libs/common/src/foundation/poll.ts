import { setTimeout as sleep } from 'node:timers/promises';
import { signalStatus } from './failure.ts';
import type { Io } from './io.ts';

/** How often something that grows is read, in milliseconds. */
const POLL = 200;

/**
 * Calls `step` until it returns `end`, a signal comes or the reader of stdout leaves; after `wait` with
 * a pause. Returns the exit status.
 */
export async function poll(
  io: Pick<Io, 'onSignal' | 'stdout'>,
  step: () => Promise<'more' | 'wait' | 'end'>,
): Promise<number> {
  let stoppedBy: NodeJS.Signals | undefined;
  const stop = new AbortController();
  const remove = io.onSignal((signal) => {
    stoppedBy = signal;
    stop.abort();
  });
  while (!stoppedBy && !io.stdout.closed) {
    const next = await step();
    if (next === 'end') break;
    if (next === 'wait') await sleep(POLL, undefined, { signal: stop.signal }).catch(() => {});
  }
  remove();
  return stoppedBy ? signalStatus(stoppedBy) : 0;
}
