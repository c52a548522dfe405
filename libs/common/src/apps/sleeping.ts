/** Which apps may sleep: previews, by the mark in their state. */
import { durationOf } from '../text/time.ts';
import { removalOf } from './preview.ts';
import type { AppState } from './state.ts';

/** When the instances of an app fall asleep. */
export interface SleepRule {
  /** After this long without a request, in milliseconds. */
  readonly after: number;
  /** The app whose previews share `limit`. */
  readonly of: string;
  /** Instances that may be awake at once. */
  readonly limit: number;
}

const AFTER = 15 * 60_000;

/** undefined: the app never sleeps. */
export function sleepRule(state: AppState): SleepRule | undefined {
  const { app, preview } = state;
  if (!preview || removalOf(state)) return undefined;
  const { sleep_after: after, of = app, max_awake: limit } = preview;
  return {
    after: (after === undefined ? undefined : durationOf(after)) ?? AFTER,
    of,
    limit: limit ?? Number.POSITIVE_INFINITY,
  };
}

/** The name in the address of an instance, lower case; undefined without one. */
export function hostOfUrl(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).hostname : undefined;
}
