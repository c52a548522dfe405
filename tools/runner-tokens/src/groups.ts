/** Apps grouped by the token that they share. */
import { listApps } from '@runner/common/apps';
import { Failure } from '@runner/common/failure';
import type { Paths } from '@runner/common/paths';
import { digestOf, fingerprintOf } from '@runner/common/secret';
import { type Keyring, open, requireKeyring } from '@runner/common/vault';

export interface TokenGroup {
  fingerprint: string;
  apps_count: number;
  apps: string[];
}

export interface Grouping {
  groups: TokenGroup[];
  /** Apps that have no token. */
  without: string[];
  /** Apps whose state or token cannot be opened. */
  failed: { app: string; failure: Failure }[];
}

/**
 * Groups by the whole sha256, never by the fingerprint, which can collide. Largest group first,
 * then by fingerprint; apps by name.
 */
export function groupTokens(
  paths: Paths,
  env: Readonly<Record<string, string | undefined>>,
): Grouping {
  const { apps, unreadable } = listApps(paths);
  const byDigest = new Map<string, string[]>();
  const without: string[] = [];
  const failed = [...unreadable];
  let keyring: Keyring | undefined;
  for (const { app, state } of apps) {
    if (!state.repohost_token) {
      without.push(app);
      continue;
    }
    try {
      keyring ??= requireKeyring(paths, env);
      const digest = digestOf(open(state.repohost_token, app, keyring));
      const sharing = byDigest.get(digest);
      if (sharing) sharing.push(app);
      else byDigest.set(digest, [app]);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failed.push({ app, failure: error });
    }
  }
  const groups = [...byDigest].map(([digest, names]) => ({
    fingerprint: fingerprintOf(digest),
    apps_count: names.length,
    apps: names,
  }));
  groups.sort((a, b) => b.apps_count - a.apps_count || (a.fingerprint < b.fingerprint ? -1 : 1));
  return { groups, without, failed };
}
