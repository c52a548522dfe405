/** What the contract of the channels is tested with, one entry per channel. */

import type { ChannelName } from '@runner/common/config/settings';
import { Secret } from '@runner/common/secrets/secret';
import { refusals as hookRefusals } from '@runner/testing/discord-refusals';
import type { Fault } from '@runner/testing/faults';
import type { Loopback } from '@runner/testing/loopback';
import { refusals as botRefusals } from '@runner/testing/telegram';
import { connectDiscord } from '../src/channels/discord/discord.ts';
import { connectTelegram } from '../src/channels/telegram/telegram.ts';
import type { Channel } from '../src/service/contract.ts';
import { BOT_TOKEN, CHAT_ID, type Chats, configOf } from './chats.ts';

export interface Subject {
  /** Connects to the stand-in. */
  open(chats: Chats, redact: (text: string) => string): Channel;
  server(chats: Chats): Loopback & { messages: { payload: unknown }[] };
  /** Texts that must never be printed. */
  secrets(chats: Chats): string[];
  /** A fault of the service -> the class of its outcome, beside those of FAULTS. */
  readonly faults: Readonly<Record<string, readonly [fault: Fault, outcome: string]>>;
  /** Another address of the configuration that leads nowhere good, keeping the secret. */
  config(chats: Chats, origin: string): string;
}

/** Every channel, with what it is tested by. */
export const SUBJECTS: Readonly<Record<ChannelName, Subject>> = {
  telegram: {
    open: ({ bot }, redact) =>
      connectTelegram(
        {
          botToken: new Secret(BOT_TOKEN),
          chatId: String(CHAT_ID),
          threadId: undefined,
          apiUrl: bot.url,
        },
        { env: {}, redact },
      ),
    server: ({ bot }) => bot,
    secrets: () => [BOT_TOKEN, BOT_TOKEN.split(':')[1] as string],
    faults: {
      'a revoked token': [botRefusals.unauthorized, 'gone'],
      '429 for a second': [botRefusals.tooManyRequests(1), 'wait'],
      'an internal error': [botRefusals.internal, 'retry'],
      'a refused chat': [
        {
          status: 400,
          body: { ok: false, error_code: 400, description: 'Bad Request: chat not found' },
        },
        'rejected',
      ],
    },
    config: ({ bot, hook }, origin) => configOf({ ...bot, url: origin }, hook, 't'),
  },
  discord: {
    open: ({ hook }, redact) =>
      connectDiscord({ webhook: new Secret(hook.webhook) }, { env: {}, redact }),
    server: ({ hook }) => hook,
    secrets: ({ hook }) => [hook.webhook, hook.token],
    faults: {
      'an unknown webhook': [hookRefusals.unknownWebhook, 'gone'],
      'an invalid token': [hookRefusals.invalidToken, 'gone'],
      '429 for a second': [hookRefusals.rateLimited(1), 'wait'],
      "the proxy's 429": [hookRefusals.cloudflareRateLimited, 'wait'],
      "the proxy's 403": [hookRefusals.cloudflareForbidden, 'retry'],
      'an internal error': [hookRefusals.internal, 'retry'],
    },
    config: ({ bot, hook }, origin) =>
      configOf(bot, { ...hook, webhook: hook.webhook.replace(hook.url, origin) }, 'd'),
  },
};

/** What goes wrong between any two programs -> the class of its outcome. */
export const FAULTS: Readonly<Record<string, readonly [fault: Fault, outcome: string]>> = {
  'a dropped connection': ['drop', 'retry'],
  'an answer that is cut off': ['cut', 'retry'],
  'a page of a proxy': ['html', 'retry'],
  'a 200 that is no JSON': ['not-json', 'retry'],
  'an answer of a megabyte': [{ huge: 1_048_576 }, 'retry'],
  'a redirect': [{ redirect: 'http://127.0.0.1:9' }, 'rejected'],
  'a 413 page': [{ status: 413, body: '<html></html>' }, 'rejected'],
};

/** The stand-in of a channel, healthy and without memory, and a spool without any. */
export function fresh(subject: Subject, chats: Chats): ReturnType<Subject['server']> {
  const server = subject.server(chats);
  chats.forget();
  server.heal();
  server.messages.splice(0);
  server.requests.splice(0);
  return server;
}
