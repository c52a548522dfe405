/** What of the chats' credentials is secret by itself. */
import { Secret } from '../secrets/secret.ts';

/** The keys of config.yml that hold them, in either layout. */
export const CHAT_SECRET_KEYS = ['telegram_bot_token', 'discord_webhook'] as const;

/**
 * A value of one of these keys and its secret end alone: of a bot's token what follows the colon, of a
 * webhook the part of its path behind its id, or else the last one. None of an empty value.
 */
export function chatSecrets(key: (typeof CHAT_SECRET_KEYS)[number], value: string): Secret[] {
  const text = value.trim();
  if (text === '') return [];
  const whole = key === 'discord_webhook' ? (text.split(/[?#]/)[0] ?? '').replace(/\/$/, '') : text;
  return [
    whole,
    key === 'discord_webhook' ? endOfWebhook(whole) : whole.slice(whole.indexOf(':') + 1),
  ]
    .filter((secret) => secret !== '')
    .map((secret) => new Secret(secret));
}

function endOfWebhook(address: string): string {
  const named = /\/webhooks\/[^/]{1,40}\/([^/]{1,4096})/.exec(address)?.[1];
  const path = /^[a-z]{1,10}:\/\/[^/]{0,300}\/(.*)$/is.exec(address)?.[1] ?? '';
  return named ?? path.slice(path.lastIndexOf('/') + 1);
}
