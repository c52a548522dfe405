import { setTimeout as sleep } from 'node:timers/promises';
import type { Io } from '@runner/common/foundation/io';

/** Time and randomness; replaced in tests. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds of a monotonic clock. */
  elapsed(): number;
  sleep(milliseconds: number): Promise<void>;
  random(): number;
}

/** The real clock. */
export function clockOf(io: Io): Clock {
  return {
    now: () => io.now().getTime(),
    elapsed: () => io.elapsed(),
    sleep: (milliseconds) => sleep(milliseconds),
    random: io.random,
  };
}
