/** `--token-from`: the token of another app, and the keys that seal it. */

import { findApp, hintFor, listApps } from '../apps/store.ts';
import { namesIn } from '../files/read.ts';
import { Failure } from '../foundation/failure.ts';
import type { Io } from '../foundation/io.ts';
import { isAppName } from '../foundation/names.ts';
import type { Paths } from '../foundation/paths.ts';
import { digestOf, fingerprintOf, type Secret } from '../secrets/secret.ts';
import { createKeyring, type Keyring, readKeyring, requireKeyring } from './keyring.ts';
import { openToken } from './open.ts';

/**
 * The token of a registered app; prints its fingerprint on stderr. Throws `token_source_not_found`,
 * `token_source_no_token`, and whatever `openToken` throws.
 */
export function tokenFrom(io: Io, paths: Paths, source: string): Secret {
  if (!isAppName(source) || !findApp(paths, source)) {
    throw new Failure(
      'token_source_not_found',
      `there is no app called '${source.slice(0, 80)}' to take the token from${hintFor(paths, source)}`,
    );
  }
  const token = openToken(paths, io.env, source);
  if (!token) throw new Failure('token_source_no_token', `the app '${source}' has no token`);
  io.stderr.write(`Reusing token ${fingerprintOf(digestOf(token))} from ${source}\n`);
  return token;
}

/**
 * The keys for a new value, under the registry's lock. Only the first of a root creates a key:
 * beside sealed values, a new key would hide that the old one is lost.
 */
export function sealingKeys(io: Io, paths: Paths): Keyring {
  const keyring = readKeyring(paths, io.env);
  if (keyring) return keyring;
  return mayHoldSealed(paths) ? requireKeyring(paths, io.env) : createKeyring(paths, io.env);
}

/** Whether a sealed value is stored, or may be, in an app that cannot be read. */
export function mayHoldSealed(paths: Paths): boolean {
  if (namesIn(paths.secretsDir).length > 0) return true;
  const { apps, unreadable } = listApps(paths);
  return unreadable.length > 0 || apps.some((app) => app.state.repohost_token);
}
