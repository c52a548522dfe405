/** The commits that a manual choice keeps from being deployed. */

/** Commits that `fetch --deploy` skips, because an operator chose another version. */
export interface Hold {
  /** The same as `head`, for 0.1.0. */
  commit: string;
  since: string;
  reason: string;
  /** Head of the branch at that time; absent in states written by 0.1.0. */
  head?: string;
  /** Every commit that an operator left, and the head; absent in states written by 0.1.0. */
  commits?: string[];
  /** Who chose the other version; absent in states written by 0.1.0. */
  by?: string;
  /** The version of the head, if that was rolled back itself. */
  rolled_back?: string;
}

/** Whether `fetch --deploy` skips a commit, given as a test for it. */
export function isHeld(
  { held }: { readonly held: Hold | null },
  same: (commit: string) => boolean,
) {
  return held ? heldCommits(held).some(same) : false;
}

export function heldCommits({ commit, commits }: Hold): string[] {
  return Array.isArray(commits) ? [...commits, commit] : [commit];
}
