/** Whether an instance crashes again and again, as its supervisor counts. */
import type { Restarts } from '@runner/common/apps/instance-summary';

/** Restarts in a window, in ms, that are a loop. */
const LOOP = 3;
const WINDOW = 600_000;

/** What `fetch` saw: when, in milliseconds since 1970, and how often the instance had been restarted. */
export type RestartsSeen = readonly (readonly [at: number, count: number])[];

/** How often it was restarted in the last 10 minutes. */
export interface CrashLoop {
  readonly seen: RestartsSeen;
  readonly count: number;
  readonly loops: boolean;
}

/** `wasDown`: a loop is over when there was at most one restart in 10 minutes. */
export function crashLoop(
  before: unknown,
  now: Date,
  { count: total }: Restarts,
  wasDown: boolean,
): CrashLoop {
  const at = now.getTime();
  const isPair = (each: unknown): each is RestartsSeen[number] =>
    Array.isArray(each) && each.every(Number.isFinite);
  // A deploy begins to count again.
  const seen = (Array.isArray(before) ? before : [])
    .filter(isPair)
    .filter(([time, known]) => time <= at && at - time <= WINDOW && known <= total);
  const count = total - (seen[0]?.[1] ?? total);
  return { seen: [...seen, [at, total]], count, loops: count >= (wasDown ? LOOP - 1 : LOOP) };
}
