/** A text as config.yml: what the commands that use it read, or refuse. */

import { codeHostOf } from '@runner/common/config/code-hosts';
import { readConfig } from '@runner/common/config/file';
import { maxDeployRetries, notifySettingsOf } from '@runner/common/config/settings';
import { told } from '../cli/refusal.ts';
import { freshRoot, plant } from '../files/scratch.ts';

/** A bot's token. */
export const BOT = '123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw';
/** A webhook. */
export const HOOK = 'https://discord.com/api/webhooks/123456789012345678/abcDEF-ghi_jkl';
/** The root whose config.yml is written. */
export const paths = freshRoot();

/** config.yml with this text, read. */
export function config(text: string | Uint8Array) {
  plant(paths.config, text);
  return readConfig(paths);
}

/** Section `notify` with its secrets revealed. */
export function notify(text: string, env: Readonly<Record<string, string>> = {}) {
  const { telegram, discord, channel, verboseErrors } = notifySettingsOf(config(text), env);
  return {
    channel,
    verboseErrors,
    telegram: telegram && { ...telegram, botToken: telegram.botToken.reveal() },
    discord: discord?.webhook.reveal(),
  };
}

/** What every command that uses the whole file says of it, or nothing. */
export function complaint(
  text: string | Uint8Array,
  env: Readonly<Record<string, string>> = {},
): string {
  const check = () => {
    const read = config(text);
    codeHostOf(read, env);
    maxDeployRetries(read);
    notifySettingsOf(read, env);
  };
  return told(check).replace(paths.config, 'config.yml');
}
