/** What is asked of the host once for all apps of the same repository and token, while `fetch` checks them. */
import { digestOf } from '@runner/common/secrets/secret';
import { listFollowed, type RemoteRefs } from '../git/remote.ts';
import type { GitSource } from '../git/source.ts';

/** Mirrors into which a commit was fetched. */
export interface Lenders {
  /** The mirror of another app that has the commit; undefined if no app has asked for it. */
  of(source: GitSource, commit: string): Promise<string | undefined> | undefined;
  /** The source fetches it; the first one lends. */
  add(source: GitSource, commit: string, work: Promise<unknown>): void;
}

/** The refs that a source follows, and commits that others have fetched. */
export type Shared = ReturnType<typeof shareAnswers>;

/** Remembers answers for the time of one check of all apps. */
export function shareAnswers() {
  const listings = new Map<string, Promise<RemoteRefs>>();
  const mirrors = new Map<string, Promise<string | undefined>>();
  return {
    list(source: GitSource) {
      // The token of a GitHub App is made for each app.
      if (source.mint) return listFollowed(source);
      const key = keyOf(source, source.tags ? '' : source.branch);
      const listed = listings.get(key) ?? listFollowed(source);
      listings.set(key, listed);
      return listed;
    },
    lenders: {
      of: (source, commit) => mirrors.get(keyOf(source, commit)),
      add(source, commit, work) {
        const key = keyOf(source, commit);
        const lender = work.then(
          () => source.mirror,
          () => undefined,
        );
        if (!source.mint && !mirrors.has(key)) mirrors.set(key, lender);
      },
    } satisfies Lenders,
  };
}

/** Apps with the same key may read the same. */
function keyOf({ gitUrl, gitUser, repo, token }: GitSource, what: string): string {
  return JSON.stringify([gitUrl, repo, what, token ? [gitUser, digestOf(token)] : []]);
}
