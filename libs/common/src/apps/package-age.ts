/** What the ages of the packages that a commit brings mean, as the state remembers it. */

/** How long an answer counts at most, in ms; another setting, or a registry that answers, is seen then. */
export const AGE_COUNTS = 3_600_000;

/** What was found out about the packages of a commit. */
export interface PackageAge {
  readonly commit: string;
  /** Until when this counts, in ISO 8601; then it is asked again. */
  readonly again: string;
  /** What it waits for, after the word `waits`; absent: its packages are old enough. */
  readonly waits?: string;
}

/** What is known of a commit and still counts; a clock that was set back does not make it count for longer. */
export function knownAge(
  age: PackageAge | undefined,
  commit: string | undefined,
  now: Date,
): PackageAge | undefined {
  const left = Date.parse(age?.again ?? '') - now.getTime();
  return age?.commit === commit && left > 0 && left <= AGE_COUNTS ? age : undefined;
}
