/** Whether other users may read the secrets in config.yml and the registry. */
import { lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import { readIfThere, readTextIfThere } from '../files/read.ts';
import type { Paths } from '../foundation/paths.ts';
import { word } from '../text/shell.ts';

/** A secret in config.yml that is neither empty nor in a comment. */
const SECRETS =
  /^[^#\n]*\b(?:telegram_bot_token|discord_webhook|webhook|token|smtp|secret|url)["']?[ \t]*:(?![ \t]*(?:""|''|~|null)[ \t]*(?:[#,}]|$))[ \t]*[^\s#,}]/m;

/** Whether config.yml holds secrets and others may read it. */
export function isConfigExposed(paths: Paths): boolean {
  try {
    const open = (lstatSync(paths.config).mode & 0o077) !== 0;
    return open && SECRETS.test(readTextIfThere(paths.config, 65_536) ?? '');
  } catch {
    // Missing or unreadable: its reader reports that.
    return false;
  }
}

/** A sealed token in a state file. */
const SEALED = /"repohost_token"\s*:\s*"[^"]/;
/** Bytes, as the registry reads. */
const STATE_MAX = 67_108_864;

/**
 * Whether a state file holds a token and others may read it: sealed, but a leaked master key would open
 * their copy. They also need access to its folder.
 */
export function isStateExposed(path: string): boolean {
  try {
    // The read bits of the file as execute bits, which its folder must have too.
    const readers = (lstatSync(path).mode >> 2) & lstatSync(dirname(path)).mode & 0o011;
    return readers !== 0 && SEALED.test(readIfThere(path, STATE_MAX)?.toString('latin1') ?? '');
  } catch {
    return false;
  }
}

/** How the warning begins. */
export const EXPOSED = 'others may read the secrets in';

/** A warning with the command that fixes it, if others may read secrets in config.yml. */
export function configExposure(paths: Paths): string | undefined {
  if (!isConfigExposed(paths)) return undefined;
  return `${EXPOSED} ${paths.config}: run chmod 600 ${word(paths.config)}`;
}
