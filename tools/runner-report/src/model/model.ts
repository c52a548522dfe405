/** The page's content as plain data; times are in milliseconds since 1970. */
/** The outcome of a deploy, as the charts distinguish it. */
export type ChartOutcome = 'success' | 'failed' | 'rolled_back' | 'by_hand' | 'unfinished';

/** A truncated list and the number of entries left out. */
export interface Cut<T> {
  readonly shown: T[];
  readonly omitted: number;
}

/** The first `most` entries. */
export function cut<T>(all: readonly T[], most: number): Cut<T> {
  return { shown: all.slice(0, most), omitted: Math.max(0, all.length - most) };
}
