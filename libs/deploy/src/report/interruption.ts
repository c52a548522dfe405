/** A signal to a command: it ends what is going on, and decides the exit status. */
import { setMaxListeners } from 'node:events';
import { Failure, Interrupted } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';

/** Listens for signals until it is removed. */
export type Interruption = ReturnType<typeof interruptionOf>;

/** From now on a signal only aborts `signal`. */
export function interruptionOf(io: Io) {
  const controller = new AbortController();
  // Every app and git at work listens, which Node takes for a leak above ten.
  setMaxListeners(0, controller.signal);
  const later: AbortController[] = [];
  let by: NodeJS.Signals | undefined;
  const remove = io.onSignal((signal) => {
    by ??= signal;
    for (const each of [controller, ...later]) each.abort();
  });
  return {
    signal: controller.signal,
    /** Aborted by the next signal: for what the first one must not end. */
    next(): AbortSignal {
      const own = new AbortController();
      later.push(own);
      return own.signal;
    },
    /** The first signal; undefined if there was none. */
    get by() {
      return by;
    },
    /** Restores Node's handling of signals. */
    remove,
  };
}

/** Does some work that a signal aborts. Throws `Interrupted` if it did, and what the work throws. */
export async function untilInterrupted<T>(
  io: Io,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const interruption = interruptionOf(io);
  try {
    return await work(interruption.signal);
  } catch (error) {
    if (interruption.by && error instanceof Failure) throw new Interrupted(interruption.by);
    throw error;
  } finally {
    interruption.remove();
  }
}
