/** What the host lists, asked once for all apps that follow the same repository with the same token. */
import { digestOf } from '@runner/common/secrets/secret';
import { listFollowed, type RemoteRefs } from '../git/remote.ts';
import type { GitSource } from '../git/source.ts';

/** The refs that a source follows. */
export type List = (source: GitSource) => Promise<RemoteRefs>;

/** Remembers answers for the time of one check of all apps. */
export function sharedListing(): List {
  const known = new Map<string, Promise<RemoteRefs>>();
  return (source) => {
    const { gitUrl, gitUser, repo, branch, tags, token, mint } = source;
    // The token of a GitHub App is made for each app.
    if (mint) return listFollowed(source);
    const rights = token ? [gitUser, digestOf(token)] : [];
    const key = JSON.stringify([gitUrl, repo, tags ? null : branch, rights]);
    const listed = known.get(key) ?? listFollowed(source);
    known.set(key, listed);
    return listed;
  };
}
