/** Where the master keys are read from, and whether others may read them. */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { isThere } from './files.ts';
import type { Paths } from './paths.ts';

type Env = Readonly<Record<string, string | undefined>>;

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
