/** Secrets in config.yml and the registry that lie open to others. */
import { lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import { readIfThere } from '../files/read.ts';
import type { Paths } from '../foundation/paths.ts';

/** Keys of config.yml whose values are secrets, where they have one; comments count for nothing. */
const SECRETS =
  /^[^#\n]*\b(?:telegram_bot_token|discord_webhook)["']?[ \t]*:(?![ \t]*(?:""|''|~|null)[ \t]*(?:[#,}]|$))[ \t]*[^\s#,}]/m;

/** Whether others may read config.yml, and it holds secrets. */
export function isConfigExposed(paths: Paths): boolean {
  try {
    const open = (lstatSync(paths.config).mode & 0o077) !== 0;
    return open && SECRETS.test(readIfThere(paths.config, 65_536)?.toString('utf8') ?? '');
  } catch {
    // Missing or unreadable: whoever needs it says so.
    return false;
  }
}

/** A sealed token in a state file. */
const SEALED = /"repohost_token"\s*:\s*"[^"]/;
/** A state file is some kilobytes. */
const STATE_MAX = 1_048_576;

/**
 * Whether others may read a state file, and it holds a token: sealed, but whoever gets hold of a master
 * key later can open a copy. A folder that they cannot enter keeps it from them.
 */
export function isStateExposed(path: string): boolean {
  try {
    // Who may read the file, as those who have to enter its folder for it.
    const readers = (lstatSync(path).mode >> 2) & lstatSync(dirname(path)).mode & 0o011;
    return readers !== 0 && SEALED.test(readIfThere(path, STATE_MAX)?.toString('latin1') ?? '');
  } catch {
    return false;
  }
}

/** How the sentence begins. */
export const EXPOSED = 'others may read the secrets in';

/** A sentence with the command that mends it when others may read secrets in config.yml. */
export function configExposure(paths: Paths): string | undefined {
  if (!isConfigExposed(paths)) return undefined;
  return `${EXPOSED} ${paths.config}: run chmod 600 ${paths.config}`;
}
