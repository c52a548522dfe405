/** The checks of a commit at its code host, as the state remembers them. */

/** Which checks of a commit must have passed before `fetch --deploy` deploys it. */
export type RequiredChecks = 'all' | readonly string[];

/** A check of a commit, in one word for every host. */
export interface SeenCheck {
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'pending';
}

/** A list of checks, and by which name the host knows this version of it. */
export interface CheckPage {
  readonly checks: readonly SeenCheck[];
  readonly etag?: string;
}

/** What the host last said about the checks of a commit. */
export interface CommitChecks {
  readonly commit: string;
  readonly checks: readonly SeenCheck[];
  readonly pages: readonly CheckPage[];
}
