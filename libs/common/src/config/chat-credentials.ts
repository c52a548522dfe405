/** The credentials of chats and of telemetry in config.yml, valid or not, for redaction. */
import { Secret } from '../secrets/secret.ts';
import type { Tree } from '../yaml/schema.ts';
import { CHANNEL_SECTIONS, SECTION_NAMES } from './channels.ts';
import type { Config } from './file.ts';
import { TELEMETRY_NAMES } from './telemetry-schema.ts';

const FLAT_KEYS = ['telegram_bot_token', 'discord_webhook'] as const;
type ChatSecretKey = (typeof FLAT_KEYS)[number];

/** Every credential in the file, also of an inactive channel, and its secret end. */
export function chatSecretsOf({ tree }: Config): Secret[] {
  if (!tree) return [];
  const all = [
    ...secretsBelow(tree),
    ...sectionSecrets(entryOf(tree, 'notify')),
    ...telemetrySecrets(entryOf(tree, 'telemetry')),
  ];
  return all.map((secret) => new Secret(secret));
}

function entryOf(tree: Tree | undefined, key: string): Tree | undefined {
  return tree?.kind === 'map' ? tree.entries.find((each) => each.key === key)?.value : undefined;
}

/** Those of the channels that have a section each. */
function sectionSecrets(notify: Tree | undefined): string[] {
  return SECTION_NAMES.flatMap((name) =>
    Object.entries(CHANNEL_SECTIONS[name]).flatMap(([key, { secrets }]) => {
      const value = entryOf(entryOf(notify, name), key);
      const text = value?.kind === 'scalar' ? String(value.value ?? '').trim() : '';
      return text === '' ? [] : (secrets?.(text) ?? []).filter(Boolean);
    }),
  );
}

/** Tokens and headers: a whole value, and what follows `Bearer`. */
function telemetrySecrets(telemetry: Tree | undefined): string[] {
  return TELEMETRY_NAMES.flatMap((name) => {
    const own = entryOf(telemetry, name);
    const headers = entryOf(own, 'headers');
    const named = headers?.kind === 'map' ? headers.entries.map(({ value }) => value) : [];
    return [entryOf(own, 'token'), ...named].flatMap((value) => {
      const text = value?.kind === 'scalar' ? String(value.value ?? '').trim() : '';
      return [text, text.slice(text.lastIndexOf(' ') + 1)].filter(Boolean);
    });
  });
}

function secretsBelow(tree: Tree): string[] {
  if (tree.kind === 'scalar') return [];
  if (tree.kind === 'list') return tree.items.flatMap(secretsBelow);
  return tree.entries.flatMap(({ key, value }) => {
    const isSecret = value.kind === 'scalar' && FLAT_KEYS.some((each) => each === key);
    return isSecret
      ? formsOf(key as ChatSecretKey, String(value.value ?? ''))
      : secretsBelow(value);
  });
}

/**
 * A credential and the part of it that is secret on its own: what follows the colon of a bot's token;
 * of a webhook the part of its path behind its id, else the last part. None of an empty value.
 */
function formsOf(key: ChatSecretKey, value: string): string[] {
  const text = value.trim();
  if (key === 'telegram_bot_token')
    return [text, text.slice(text.indexOf(':') + 1)].filter(Boolean);
  const whole = (text.split(/[?#]/)[0] ?? '').replace(/\/$/, '');
  return [whole, secretEndOf(whole)].filter(Boolean);
}

function secretEndOf(webhook: string): string {
  const named = /\/webhooks\/[^/]{1,40}\/([^/]{1,4096})/.exec(webhook)?.[1];
  const path = /^[a-z]{1,10}:\/\/[^/]{0,300}\/(.*)$/is.exec(webhook)?.[1] ?? '';
  return named ?? path.slice(path.lastIndexOf('/') + 1);
}
