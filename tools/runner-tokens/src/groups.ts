/** Apps grouped by the token that they share. */
import type { AppState } from '@runner/common/apps/state';
import { type UnreadableApp, visitApps } from '@runner/common/apps/store';
import { Failure } from '@runner/common/foundation/failure';
import type { Env } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { digestOf, fingerprintOf, type Secret } from '@runner/common/secrets/secret';
import { type Keyring, requireKeyring } from '@runner/common/tokens/keyring';
import { openToken } from '@runner/common/tokens/open';
import { open } from '@runner/common/tokens/vault';

/** A token and the apps that share it, as `--json` prints them. */
export interface TokenGroup {
  fingerprint: string;
  apps_count: number;
  apps: string[];
  /** As the code host said when the token was last tested; absent when it did not. */
  expires_at?: string;
}

/** All groups, and the apps without one. */
export interface Grouping {
  groups: TokenGroup[];
  /** Apps that have no token. */
  without: string[];
  /** Apps whose state or token cannot be opened. */
  failed: UnreadableApp[];
  /** Why the master keys cannot be read; then no token opens. */
  keysRefused: Failure | undefined;
}

/**
 * Groups by the whole sha256, never by the fingerprint, which can collide. Largest group first,
 * then by fingerprint; apps by name.
 */
export function groupTokens(paths: Paths, env: Env): Grouping {
  const byDigest = new Map<string, AppState[]>();
  const without: string[] = [];
  const failed: Grouping['failed'] = [];
  let keyring: Keyring | undefined;
  let keysRefused: Failure | undefined;
  const group = (app: AppState) => {
    const { app: name, state } = app;
    const sealed = state.repohost_token;
    // Who may only look sees that there is a token, and cannot read the key.
    const hasToken = Boolean(sealed ?? state.has_token);
    try {
      if (hasToken && keysRefused) return;
      if (hasToken) keyring ??= requireKeyring(paths, env);
      const token = sealed && keyring && openedNow({ paths, env }, name, sealed, keyring);
      if (!token) {
        without.push(name);
        return;
      }
      const digest = digestOf(token);
      const sharing = byDigest.get(digest);
      if (sharing) sharing.push(app);
      else byDigest.set(digest, [app]);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (hasToken && !keyring) keysRefused = error;
      // app_not_found: it was removed since the folder was read.
      else if (error.code !== 'app_not_found') failed.push({ app: name, failure: error });
    }
  };
  visitApps(paths, group, (unreadable) => failed.push(unreadable));
  const groups = [...byDigest].map(([digest, apps]) => {
    const fingerprint = fingerprintOf(digest);
    return {
      fingerprint,
      apps_count: apps.length,
      apps: apps.map(({ app }) => app),
      ...endOf(apps, fingerprint),
    };
  });
  groups.sort((a, b) => b.apps_count - a.apps_count || (a.fingerprint < b.fingerprint ? -1 : 1));
  return { groups, without, failed, keysRefused };
}

/** The end that was remembered for this token, not for one before it. */
function endOf(apps: readonly AppState[], fingerprint: string): { expires_at?: string } {
  const tested = apps.find(({ state }) => state.repohost_token_fingerprint === fingerprint);
  const end = tested?.state.repohost_token_ends;
  return end === undefined ? {} : { expires_at: end };
}

/** A rekey may have dropped the key since the state was read: then both are read again. */
function openedNow(
  { paths, env }: Readonly<{ paths: Paths; env: Env }>,
  app: string,
  sealed: string,
  keyring: Keyring,
): Secret | undefined {
  try {
    return open(sealed, app, keyring);
  } catch (error) {
    if (error instanceof Failure && error.code === 'mkey_unknown') {
      return openToken(paths, env, app);
    }
    throw error;
  }
}
