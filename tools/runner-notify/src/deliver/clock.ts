import { setTimeout as sleep } from 'node:timers/promises';
import type { Io } from '@runner/common/foundation/io';

/** Time and chance; tests replace them. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds of a clock that never steps back. */
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
