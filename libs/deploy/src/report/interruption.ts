/** A signal that reaches a command: it ends what is going on, and the status tells which it was. */
import type { Io } from '@runner/common/foundation/io';

/** Listens until it is removed. */
export interface Interruption {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** The first signal; undefined when none came. */
  readonly by: NodeJS.Signals | undefined;
  /** Gives the signals back to Node. */
  remove(): void;
}

/** From now on signals end nothing but what looks at `signal`. */
export function interruptionOf(io: Io): Interruption {
  const controller = new AbortController();
  let by: NodeJS.Signals | undefined;
  const remove = io.onSignal((signal) => {
    by ??= signal;
    controller.abort();
  });
  return {
    signal: controller.signal,
    get by() {
      return by;
    },
    remove,
  };
}
