/** What the ages of the packages that a commit brings mean, as the state remembers it. */

/** What was found out about the packages of a commit. */
export interface PackageAge {
  readonly commit: string;
  /** Until when this counts, in ISO 8601; then it is asked again. */
  readonly again: string;
  /** What it waits for, after the word `waits`; absent: its packages are old enough. */
  readonly waits?: string;
}

/** What is known of a commit and still counts. */
export function knownAge(
  age: PackageAge | undefined,
  commit: string | undefined,
  now: Date,
): PackageAge | undefined {
  return age?.commit === commit && Date.parse(age?.again ?? '') > now.getTime() ? age : undefined;
}
