/** Secrets in config.yml that lie open to others. */
import { lstatSync } from 'node:fs';
import { readIfThere } from './files.ts';
import type { Paths } from './paths.ts';

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

/** How the sentence begins. */
export const EXPOSED = 'others may read the secrets in';

/** A sentence with the command that mends it when others may read secrets in config.yml. */
export function configExposure(paths: Paths): string | undefined {
  if (!isConfigExposed(paths)) return undefined;
  return `${EXPOSED} ${paths.config}: run chmod 600 ${paths.config}`;
}
