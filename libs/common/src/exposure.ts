/** What lies open to others and should not: said, not refused, except for the master key. */
import { lstatSync } from 'node:fs';
import { readIfThere } from './files.ts';
import type { Paths } from './paths.ts';

/** Keys of config.yml whose values are secrets. */
const SECRETS = /^\s*(?:telegram_bot_token|discord_webhook)\s*:\s*\S/m;

/** How the sentence begins. */
export const EXPOSED = 'others may read the secrets in';

/** A sentence with the command that mends it when others may read secrets in config.yml. */
export function configExposure(paths: Paths): string | undefined {
  try {
    const open = (lstatSync(paths.config).mode & 0o077) !== 0;
    if (!open || !SECRETS.test(readIfThere(paths.config, 65_536)?.toString('utf8') ?? ''))
      return undefined;
  } catch {
    // Missing or unreadable: whoever needs it says so.
    return undefined;
  }
  return `${EXPOSED} ${paths.config}: run chmod 600 ${paths.config}`;
}
