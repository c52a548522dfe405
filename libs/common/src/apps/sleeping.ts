/** Which apps may sleep: previews, by the mark in their state. */
import { durationOf } from '../text/time.ts';
import { removalOf } from './preview.ts';
import type { AppState } from './state.ts';

/** When the instances of an app fall asleep. */
export type SleepRule = NonNullable<ReturnType<typeof sleepRule>>;

const AFTER = 15 * 60_000;

/** undefined: the app never sleeps. */
export function sleepRule(state: AppState) {
  const { app, preview } = state;
  if (!preview || removalOf(state)) return undefined;
  const { sleep_after: after, of = app, max_awake: limit } = preview;
  return {
    /** After this long without a request, in milliseconds. */
    after: (after === undefined ? undefined : durationOf(after)) ?? AFTER,
    /** The app whose previews share `limit`. */
    of,
    /** Instances that may be awake at once. */
    limit: limit ?? Number.POSITIVE_INFINITY,
  };
}

/** The name in the address of an instance, lower case; undefined without one. */
export function hostOfUrl(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).hostname : undefined;
}
