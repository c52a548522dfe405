/** What the contract of the channels is tested with, one entry per channel. */

import type { ChannelName } from '@runner/common/config/channels';
import { Secret } from '@runner/common/secrets/secret';
import { refusals as hookRefusals } from '@runner/testing/discord-refusals';
import { ntfyRefusals } from '@runner/testing/ntfy';
import { type SlackMessage, slackRefusals } from '@runner/testing/slack';
import {
  refusals as botRefusals,
  type BotMessage as TelegramMessage,
} from '@runner/testing/telegram';
import { redactorOf } from '../src/channels/configured.ts';
import { CHANNELS } from '../src/channels/index.ts';
import type { Channel } from '../src/service/contract.ts';
import { BOT_TOKEN, CHAT_ID, type Chats, configOf } from './chats.ts';
import { visible } from './discord-shown.ts';
import { echoed, FAULTS, plainly, type Server, type Subject, textsIn } from './subject.ts';
import { arrives } from './telegram-shown.ts';

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
    credentials: ({ bot: { url: apiUrl } }) => {
      const chat = { chatId: String(CHAT_ID), threadId: undefined };
      return { telegram: { botToken: new Secret(BOT_TOKEN), ...chat, apiUrl } };
    },
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
    credentials: ({ hook }) => ({ discord: { webhook: new Secret(hook.webhook) } }),
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
    credentials: ({ slack }) => ({ slack: { webhook: new Secret(slack.webhook) } }),
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
    credentials: ({ ntfy }) => ({
      ntfy: { url: new Secret(ntfy.topic), token: new Secret(ntfy.token) },
    }),
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
    credentials: ({ mail }) => ({
      email: { smtp: new Secret(mail.address), from: 'a@example.org', to: ['b@example.org'] },
    }),
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
    credentials: ({ receiver }) => ({
      webhook: { url: new Secret(receiver.address), secret: new Secret(receiver.secret) },
    }),
    server: ({ receiver }) => receiver as Server,
    secrets: ({ receiver }) => [receiver.address, receiver.secret, receiver.secret.slice(6)],
    faults: {
      ...FAULTS,
      // The specification: any 2xx is success, whatever the body holds.
      'a 200 that is no JSON': ['not-json', 'delivered'],
      'an answer of a megabyte': [{ huge: 1_048_576 }, 'delivered'],
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

/** Connects a channel to its stand-in. */
export function open(name: ChannelName, chats: Chats): Channel {
  const credentials = SUBJECTS[name].credentials(chats);
  const line = { env: {}, redact: redactorOf(credentials) };
  return CHANNELS[name].connect(credentials, line) as Channel;
}

/** The stand-in of a channel, healthy and without memory, and a spool without any. */
export function fresh(subject: Subject, chats: Chats): Server {
  const server = subject.server(chats);
  chats.forget();
  server.heal();
  server.messages.splice(0);
  server.requests.splice(0);
  return server;
}
