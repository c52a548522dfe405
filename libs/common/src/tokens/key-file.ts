/** Where the master keys are read from, whether others may read them, and what must not show. */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { isThere, readIfThere } from '../files/read.ts';
import type { Env } from '../foundation/io.ts';
import type { Paths } from '../foundation/paths.ts';
import { Secret } from '../secrets/secret.ts';

/** Where the keys are read from: systemd's credential, RUNNER_MKEY_FILE, `mkey` under the root. */
export function mkeyFile(paths: Paths, env: Env): string {
  const credential = credentialFile(env);
  if (credential !== undefined && isThere(credential)) return credential;
  return env.RUNNER_MKEY_FILE || paths.mkey;
}

/** The copy that systemd makes of a credential: it is guarded by its folder and shows other modes. */
export function credentialFile(env: Env): string | undefined {
  return env.CREDENTIALS_DIRECTORY ? join(env.CREDENTIALS_DIRECTORY, 'runner-mkey') : undefined;
}

/** Whether others than the owner may read the file of the keys; it must exist. */
export function isKeyExposed(path: string, env: Env): boolean {
  return path !== credentialFile(env) && (lstatSync(path).mode & 0o077) !== 0;
}

/** The largest file of keys that is read. */
export const KEY_FILE_MAX = 65_536;

/**
 * The lines of the file of the keys, whatever they hold, to be cleaned from text; none when it cannot
 * be read: whoever needs a key says so.
 */
export function keyLines(paths: Paths, env: Env): Secret[] {
  try {
    const text = readIfThere(mkeyFile(paths, env), KEY_FILE_MAX)?.toString('latin1') ?? '';
    const lines = text.split('\n').map((line) => line.trim());
    return lines.filter((line) => line !== '').map((line) => new Secret(line));
  } catch {
    return [];
  }
}
