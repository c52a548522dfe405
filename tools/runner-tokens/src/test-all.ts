/** Every distinct token asked about once, a few at a time. */

import { readConfig } from '@runner/common/config/file';
import { codeHostOf } from '@runner/common/config/settings';
import { Failure } from '@runner/common/foundation/failure';
import type { Env } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { groupTokens } from './groups.ts';
import { testToken } from './token-test.ts';

/** One distinct token in `tokens test --all`. */
export interface TokenVerdict {
  fingerprint: string;
  apps: string[];
  /** null: it could not be found out. */
  valid: boolean | null;
  username: string | null;
  scopes: string[];
  expires_at: string | null;
  http_status: number | null;
  /** Code and sentence of what went wrong; null for a valid token. */
  error: string | null;
  message: string | null;
}

/** Requests under way at once: a code host counts many at a time as abuse. */
const AT_ONCE = 4;

/** Verdicts in the order of `tokens list`, and the apps whose token cannot be opened. */
export async function testAll(
  paths: Paths,
  env: Env,
): Promise<{ verdicts: TokenVerdict[]; failed: { app: string; failure: Failure }[] }> {
  // A wrong configuration is told once, not for every token.
  codeHostOf(readConfig(paths), env);
  const { groups, failed, keysRefused } = groupTokens(paths, env);
  if (keysRefused) throw keysRefused;
  const verdicts: TokenVerdict[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < groups.length; index = next++) {
      const group = groups[index] as (typeof groups)[number];
      verdicts[index] = await verdictOf(paths, env, group.fingerprint, group.apps);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { verdicts, failed };
}

async function verdictOf(
  paths: Paths,
  env: Env,
  fingerprint: string,
  apps: string[],
): Promise<TokenVerdict> {
  const unknown: TokenVerdict = {
    fingerprint,
    apps,
    valid: null,
    username: null,
    scopes: [],
    expires_at: null,
    http_status: null,
    error: null,
    message: null,
  };
  try {
    const { username, scopes, expires_at = null } = await testToken(paths, env, apps[0] as string);
    return { ...unknown, valid: true, username, scopes, expires_at };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const status = error.facts.http_status;
    return {
      ...unknown,
      valid: error.code === 'token_invalid' ? false : null,
      http_status: typeof status === 'number' ? status : null,
      error: error.code,
      message: error.message,
    };
  }
}
