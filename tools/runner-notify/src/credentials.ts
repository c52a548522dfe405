/** The credentials of config.yml: whether they are there, and what of them may be shown. */

import type { Config } from '@runner/common/config';
import type { Tree } from '@runner/common/schema';
import { digestOf, Secret } from '@runner/common/secret';
import type { ChannelName, NotifySettings } from '@runner/common/settings';
import { executionAddress } from './channels/discord/discord.ts';

/** The keys that make a channel; all of them are needed. */
export const CREDENTIALS: Readonly<Record<ChannelName, readonly string[]>> = {
  telegram: ['telegram_bot_token', 'telegram_chat_id'],
  discord: ['discord_webhook'],
};

/** A credential as it stands in section `notify`, else at the top level; empty when it is not set. */
export function credentialAt(config: Config, key: string): string {
  const section = entryOf(config.tree, 'notify');
  const found = [entryOf(section, key), entryOf(config.tree, key)].find(
    (value) => value?.kind === 'scalar' && value.value !== null,
  );
  if (found?.kind !== 'scalar') return '';
  return (typeof found.value === 'string' ? found.value : found.source).trim();
}

function entryOf(tree: Tree | undefined, key: string): Tree | undefined {
  return tree?.kind === 'map' ? tree.entries.find((each) => each.key === key)?.value : undefined;
}

/** The token and the webhook, and those parts of them that are secret by themselves. */
export function secretsOf({
  telegram: bot,
  discord: hook,
}: Pick<NotifySettings, 'telegram' | 'discord'>): Secret[] {
  const token = bot?.botToken.reveal() ?? '';
  const webhook = hook?.webhook.reveal() ?? '';
  const path = webhook === '' ? '' : new URL(executionAddress(webhook)).pathname;
  const parts = [token, token.replace(/^.*:/, ''), webhook, path.replace(/^.*\//, '')];
  return parts.filter((part) => part !== '').map((part) => new Secret(part));
}

/** Tells destinations apart without telling a secret: the rest of a destination's state is about this one. */
export function destinationDigest(
  { telegram: bot, discord: hook }: Pick<NotifySettings, 'telegram' | 'discord'>,
  name: ChannelName,
): string {
  const webhook = hook?.webhook.reveal() ?? '';
  const parts = [bot?.botToken.reveal(), bot?.chatId, bot?.apiUrl];
  return digestOf(new Secret(name === 'discord' ? webhook : parts.join('\n')));
}

/** Fewer characters would tell too much of a short secret by showing four. */
const MASKED_MIN = 16;

/** `123456:…wxyz`: the bot's id, which is public, and the end of the rest. */
export function maskedToken(token: string): string {
  const [id = '', rest = ''] = token.split(':');
  return `${id}:…${rest.length < MASKED_MIN ? '' : rest.slice(-4)}`;
}

/** `webhook 1234567890`: the id alone; `…` where the address names none. */
export function maskedWebhook(address: string): string {
  const id = /\/webhooks\/(\d{1,20})(?:\/|$)/.exec(address)?.[1];
  return `webhook ${id ?? '…'}`;
}
