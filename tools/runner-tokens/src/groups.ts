/** Apps grouped by the token that they share. */
import type { AppState } from '@runner/common/apps/state';
import { appNames, type UnreadableApp, visitApps } from '@runner/common/apps/store';
import { Failure } from '@runner/common/foundation/failure';
import type { Env } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { digestOf, fingerprintOf, type Secret } from '@runner/common/secrets/secret';
import { type Keyring, requireKeyring } from '@runner/common/tokens/keyring';
import { openToken } from '@runner/common/tokens/open';
import { open } from '@runner/common/tokens/vault';

/**
 * With so many apps V8 would begin to optimize, and with fewer than the second number its code comes
 * too late to pay; measured with `npm run bench -- tokens`.
 */
const OPTIMIZED_IN_VAIN = { from: 100, below: 3_000 };

/** A token and the apps that share it, as `--json` prints them. */
export interface TokenGroup {
  fingerprint: string;
  apps_count: number;
  apps: string[];
}

/** All groups, and the apps that are in none. */
export interface Grouping {
  groups: TokenGroup[];
  /** Apps that have no token. */
  without: string[];
  /** Apps whose state or token cannot be opened. */
  failed: UnreadableApp[];
  /** Why the master keys themselves cannot be read: no token opens then. */
  keysRefused: Failure | undefined;
}

/**
 * Groups by the whole sha256, never by the fingerprint, which can collide. Largest group first,
 * then by fingerprint; apps by name.
 */
export function groupTokens(paths: Paths, env: Env): Grouping {
  const byDigest = new Map<string, string[]>();
  const without: string[] = [];
  const failed: Grouping['failed'] = [];
  let keyring: Keyring | undefined;
  let keysRefused: Failure | undefined;
  const group = ({ app, state }: AppState) => {
    try {
      const sealed = state.repohost_token;
      if (sealed && keysRefused) return;
      if (sealed) keyring ??= requireKeyring(paths, env);
      const token = sealed && keyring && openedNow(paths, env, app, sealed, keyring);
      if (!token) {
        without.push(app);
        return;
      }
      const digest = digestOf(token);
      const sharing = byDigest.get(digest);
      if (sharing) sharing.push(app);
      else byDigest.set(digest, [app]);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (state.repohost_token && !keyring) keysRefused = error;
      // Removed since the folder was read.
      else if (error.code !== 'app_not_found') failed.push({ app, failure: error });
    }
  };
  const names = appNames(paths);
  // The end of the process would wait for the optimizing compiler, whose code comes too late here.
  if (names.length >= OPTIMIZED_IN_VAIN.from && names.length < OPTIMIZED_IN_VAIN.below)
    process.getBuiltinModule('node:v8').setFlagsFromString('--no-opt');
  visitApps(paths, group, (unreadable) => failed.push(unreadable), names);
  const groups = [...byDigest].map(([digest, names]) => ({
    fingerprint: fingerprintOf(digest),
    apps_count: names.length,
    apps: names,
  }));
  groups.sort((a, b) => b.apps_count - a.apps_count || (a.fingerprint < b.fingerprint ? -1 : 1));
  return { groups, without, failed, keysRefused };
}

/** Since the state was read a rekey may have dropped its key: then state and keys are read anew. */
function openedNow(
  paths: Paths,
  env: Env,
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
