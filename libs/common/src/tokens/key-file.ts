/** The file of the master keys: its place, its permissions, and its lines for redaction. */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { isThere, readIfThere } from '../files/read.ts';
import type { Env } from '../foundation/io.ts';
import type { Paths } from '../foundation/paths.ts';
import { Secret } from '../secrets/secret.ts';

/** The file of the master keys: systemd's credential, RUNNER_MKEY_FILE, else `mkey` under the root. */
export function mkeyFile(paths: Paths, env: Env): string {
  const credential = credentialFile(env);
  if (credential !== undefined && isThere(credential)) return credential;
  return env.RUNNER_MKEY_FILE || paths.mkey;
}

/** systemd's copy of a credential, which its folder protects, whatever its mode. */
export function credentialFile(env: Env): string | undefined {
  return env.CREDENTIALS_DIRECTORY ? join(env.CREDENTIALS_DIRECTORY, 'runner-mkey') : undefined;
}

/** Whether users other than the owner may read the key file, which must exist. */
export function isKeyExposed(path: string, env: Env): boolean {
  return path !== credentialFile(env) && (lstatSync(path).mode & 0o077) !== 0;
}

/** Bytes. */
export const KEY_FILE_MAX = 65_536;

/** The lines of the key file, valid or not, for redaction; empty if it cannot be read. */
export function keyLines(paths: Paths, env: Env): Secret[] {
  try {
    const text = readIfThere(mkeyFile(paths, env), KEY_FILE_MAX)?.toString('latin1') ?? '';
    const lines = text.split('\n').map((line) => line.trim());
    return lines.filter((line) => line !== '').map((line) => new Secret(line));
  } catch {
    return [];
  }
}
