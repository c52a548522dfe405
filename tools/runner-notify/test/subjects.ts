/** What the contract of the channels is tested with, one entry per channel. */

import type { ChannelName } from '@runner/common/config/channels';
import { Secret } from '@runner/common/secrets/secret';
import { refusals as hookRefusals } from '@runner/testing/discord-refusals';
import type { Fault } from '@runner/testing/faults';
import type { MailFault } from '@runner/testing/mail-server';
import { ntfyRefusals } from '@runner/testing/ntfy';
import { type SlackMessage, slackRefusals } from '@runner/testing/slack';
import {
  refusals as botRefusals,
  type AcceptedMessage as TelegramMessage,
} from '@runner/testing/telegram';
import { connectDiscord } from '../src/channels/discord/discord.ts';
import { connectEmail } from '../src/channels/email/email.ts';
import { connectNtfy } from '../src/channels/ntfy/ntfy.ts';
import { connectSlack } from '../src/channels/slack/slack.ts';
import { connectTelegram } from '../src/channels/telegram/telegram.ts';
import { connectWebhook } from '../src/channels/webhook/webhook.ts';
import type { Channel } from '../src/service/contract.ts';
import { BOT_TOKEN, CHAT_ID, type Chats, configOf } from './chats.ts';
import { visible } from './discord-shown.ts';
import { arrives } from './telegram-shown.ts';

/** The stand-in of a channel. */
export interface Server {
  readonly url: string;
  readonly messages: { payload: unknown }[];
  readonly requests: unknown[];
  fail(fault: Fault | MailFault, times?: number): void;
  heal(): void;
}

type FaultTable = Readonly<Record<string, readonly [fault: Fault | MailFault, outcome: string]>>;

/** What a reader of a message sees, and what in it would call people. */
export interface Read {
  readonly text: string;
  readonly calls: readonly string[];
}

export interface Subject {
  /** A message as the stand-in took it. */
  read(message: never): Read;
  /** How the service shows a text differently; default: not at all. */
  shows?(text: string): string;
  /** Connects to the stand-in. */
  open(chats: Chats, redact: (text: string) => string): Channel;
  server(chats: Chats): Server;
  /** Texts that must never be printed. */
  secrets(chats: Chats): string[];
  /** A fault of the service -> the class of its outcome. */
  readonly faults: FaultTable;
  /** Another address of the configuration that leads nowhere good, keeping the secret. */
  config(chats: Chats, origin: string): string;
  /** An answer that repeats this text, or undefined when its words are never shown. */
  echo?(text: string): Fault | MailFault;
  /** Only a message shows whether it arrives. */
  readonly noProbe?: true;
  /** What passes, in place of a dropped connection and a page of a proxy. */
  readonly trouble?: { readonly faults: readonly MailFault[]; readonly maybe: string };
  /** A failure is one message, whole log included. */
  readonly wholeLog?: true;
  /** Does not speak HTTP. */
  readonly noHttp?: true;
}

/** What goes wrong between any two programs -> the class of its outcome. */
const FAULTS: FaultTable = {
  'a dropped connection': ['drop', 'retry'],
  'an answer that is cut off': ['cut', 'retry'],
  'a page of a proxy': ['html', 'retry'],
  'a 200 that is no JSON': ['not-json', 'retry'],
  'an answer of a megabyte': [{ huge: 1_048_576 }, 'retry'],
  'a redirect': [{ redirect: 'http://127.0.0.1:9' }, 'rejected'],
  'a 413 page': [{ status: 413, body: '<html></html>' }, 'rejected'],
};

const echoed = (text: string): Fault => ({
  status: 400,
  body: {
    ok: false,
    error_code: 400,
    code: 7,
    description: `no ${text}`,
    message: `no ${text}`,
    error: `no ${text}`,
  },
});

/** All texts in a value. */
function textsIn(value: unknown): string {
  if (typeof value !== 'object' || value === null) return `${value}\n`;
  return Object.values(value).map(textsIn).join('');
}

/** Of a service without markup, which calls no one. */
const plainly =
  (key: string) =>
  ({ payload }: { payload: Readonly<Record<string, unknown>> }): Read => ({
    text: String(payload[key]),
    calls: [],
  });

/** Every channel, with what it is tested by. */
export const SUBJECTS: Readonly<Record<ChannelName, Subject>> = {
  telegram: {
    // Names and commands link themselves, but not inside code.
    read({ text, entities }: TelegramMessage) {
      let outside = text;
      for (const { type, offset, length } of entities)
        if (type === 'Code' || type === 'Pre')
          outside = outside.slice(0, offset) + ' '.repeat(length) + outside.slice(offset + length);
      return { text, calls: outside.match(/[@#/$][^\s]+/g) ?? [] };
    },
    shows: arrives,
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
    server: ({ bot }) => bot as Server,
    secrets: () => [BOT_TOKEN, BOT_TOKEN.split(':')[1] as string],
    faults: {
      ...FAULTS,
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
    echo: echoed,
  },
  discord: {
    read: ({ payload }: { payload: Record<string, unknown> }) => ({
      text: textsIn([payload.content, payload.embeds]),
      calls: JSON.stringify(payload.allowed_mentions) === '{"parse":[]}' ? [] : ['anyone'],
    }),
    // Back-ticks are kept apart by an invisible character.
    shows: visible,
    open: ({ hook }, redact) =>
      connectDiscord({ webhook: new Secret(hook.webhook) }, { env: {}, redact }),
    server: ({ hook }) => hook as Server,
    secrets: ({ hook }) => [hook.webhook, hook.token],
    faults: {
      ...FAULTS,
      'an unknown webhook': [hookRefusals.unknownWebhook, 'gone'],
      'an invalid token': [hookRefusals.invalidToken, 'gone'],
      '429 for a second': [hookRefusals.rateLimited(1), 'wait'],
      "the proxy's 429": [hookRefusals.cloudflareRateLimited, 'wait'],
      "the proxy's 403": [hookRefusals.cloudflareForbidden, 'retry'],
      'an internal error': [hookRefusals.internal, 'retry'],
    },
    config: ({ bot, hook }, origin) =>
      configOf(bot, { ...hook, webhook: hook.webhook.replace(hook.url, origin) }, 'd'),
    echo: echoed,
  },
  slack: {
    read: ({ shown: text, mentions: calls }: SlackMessage) => ({ text, calls }),
    // Code cannot contain a back-tick; in a block three of them are kept apart.
    shows: (text) => text.replace(/\u200b/g, '').replace(/\u02cb/g, '`'),
    open: ({ slack }, redact) =>
      connectSlack({ webhook: new Secret(slack.webhook) }, { env: {}, redact }),
    server: ({ slack }) => slack as Server,
    secrets: ({ slack }) => [slack.webhook, new URL(slack.webhook).pathname.slice(1)],
    faults: {
      ...FAULTS,
      'a removed webhook': [slackRefusals.gone, 'gone'],
      'an archived channel': [slackRefusals.archived, 'rejected'],
      'a forbidden action': [slackRefusals.prohibited, 'rejected'],
      '429 for a second': [slackRefusals.limited(1), 'wait'],
      'an internal error': [slackRefusals.internal, 'retry'],
    },
    config: ({ slack }, origin) =>
      `notify:\n  slack: { webhook: "${slack.webhook.replace(slack.url, origin)}" }\n`,
  },
  ntfy: {
    read: plainly('message'),
    open: ({ ntfy }, redact) =>
      connectNtfy(
        { url: new Secret(ntfy.topic), token: new Secret(ntfy.token) },
        { env: {}, redact },
      ),
    server: ({ ntfy }) => ntfy as Server,
    secrets: ({ ntfy }) => [ntfy.token, ntfy.topic],
    faults: {
      ...FAULTS,
      'an invalid token': [ntfyRefusals.unauthorized, 'gone'],
      'a topic of another user': [ntfyRefusals.forbidden, 'rejected'],
      '429 of the server': [ntfyRefusals.limited, 'wait'],
      '429 for a second': [{ ...ntfyRefusals.limited, headers: { 'retry-after': '1' } }, 'wait'],
      'an internal error': [ntfyRefusals.internal, 'retry'],
    },
    config: ({ ntfy }, origin) =>
      `notify:\n  ntfy: { url: "${ntfy.topic.replace(ntfy.url, origin)}", token: ${ntfy.token} }\n`,
    echo: echoed,
  },
  email: {
    read: plainly('text'),
    open: ({ mail }, redact) =>
      connectEmail(
        { smtp: new Secret(mail.address), from: 'a@example.org', to: ['b@example.org'] },
        { env: {}, redact },
      ),
    server: ({ mail }) => ({ ...mail, url: `127.0.0.1:${mail.port}` }) as Server,
    secrets: ({ mail }) => [mail.address, mail.password, encodeURIComponent(mail.password)],
    faults: {
      'a busy server': [{ at: 'connect', code: 421, words: 'come back later' }, 'retry'],
      'a wrong password': [{ at: 'login', code: 535, words: 'authentication failed' }, 'gone'],
      'a login that fails for a while': [{ at: 'login', code: 454, words: 'later' }, 'retry'],
    },
    config: ({ mail }, origin) =>
      `notify:\n  email: { smtp: "${mail.address.replace(`127.0.0.1:${mail.port}`, origin.replace(/^\w+:\/\//, ''))}", from: a@example.org, to: b@example.org }\n`,
    echo: (text) => ({ at: 'login', code: 535, words: `no ${text}` }),
    noHttp: true,
    trouble: {
      faults: [
        { at: 'connect', code: 421 },
        { at: 'data', code: 451 },
      ],
      maybe: '',
    },
  },
  webhook: {
    read: plainly('text'),
    open: ({ receiver }, redact) =>
      connectWebhook(
        { url: new Secret(receiver.address), secret: new Secret(receiver.secret) },
        { env: {}, redact },
      ),
    server: ({ receiver }) => receiver as Server,
    secrets: ({ receiver }) => [receiver.address, receiver.secret, receiver.secret.slice(6)],
    faults: {
      ...FAULTS,
      // The specification: any 2xx is success, whatever the body holds.
      'a 200 that is no JSON': ['not-json', 'delivered'],
      'a receiver that wants no more': [{ status: 410 }, 'gone'],
      'a receiver that is being deployed': [{ status: 404 }, 'retry'],
      '429 for a second': [{ status: 429, headers: { 'retry-after': '1' } }, 'wait'],
      'an internal error': [{ status: 500 }, 'retry'],
    },
    config: ({ receiver }, origin) =>
      `notify:\n  webhook: { url: "${receiver.address.replace(receiver.url, origin)}", secret: ${receiver.secret} }\n`,
    noProbe: true,
    wholeLog: true,
  },
};

/** The stand-in of a channel, healthy and without memory, and a spool without any. */
export function fresh(subject: Subject, chats: Chats): Server {
  const server = subject.server(chats);
  chats.forget();
  server.heal();
  server.messages.splice(0);
  server.requests.splice(0);
  return server;
}
