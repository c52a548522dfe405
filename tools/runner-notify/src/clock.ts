/** Time and chance, for what has to wait. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Io } from '@runner/common/foundation/io';

/** What the queue's work takes from the world; a test hands in a faster one. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds of a clock that never steps back. */
  elapsed(): number;
  sleep(milliseconds: number): Promise<void>;
  random(): number;
}

/** The world's clock. */
export function clockOf(io: Io): Clock {
  return {
    now: () => io.now().getTime(),
    elapsed: () => io.elapsed(),
    sleep: (milliseconds) => sleep(milliseconds),
    random: io.random,
  };
}
