/** At most `limit` events in any `ms` milliseconds. */
export interface RateWindow {
  /** Milliseconds until one more fits; 0 when it fits now. */
  wait(now: number): number;
  /** How many more fit now. */
  remaining(now: number): number;
  /** Counts one. */
  add(now: number): void;
}

/** A window in which nothing has happened yet. */
export function rateWindow(limit: number, ms: number): RateWindow {
  let times: number[] = [];
  const current = (now: number) => {
    times = times.filter((time) => now - time < ms);
    return times;
  };
  return {
    wait(now) {
      const counted = current(now);
      if (counted.length < limit) return 0;
      return Math.max(1, (counted[counted.length - limit] as number) + ms - now);
    },
    remaining: (now) => Math.max(0, limit - current(now).length),
    add: (now) => void current(now).push(now),
  };
}
