/** `min_package_age`, in `.deploy.yml` and in `build` of config.yml. */
import { durationOf } from '../text/time.ts';
import { duration } from '../yaml/keys.ts';
import type { Schema } from '../yaml/schema.ts';

export const MIN_PACKAGE_AGE: Schema = duration(
  'How old packages that a lock file brings must be for fetch --deploy, e.g. 72h [default: any age]',
);

/** What the key holds, in ms; absent: 0. */
export function packageAgeIn(value: unknown): number {
  return durationOf(String(value ?? 0)) ?? 0;
}
