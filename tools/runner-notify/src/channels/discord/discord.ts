/** The webhook chat service. */
import type { NotifySettings } from '@runner/common/config/settings';
import type { Channel, Line, Rate, Service } from '../../service/contract.ts';
import { ask, exchange } from '../../service/exchange.ts';
import { fieldsOf, wordOf } from '../../service/fields.ts';
import { judgeDiscord } from './answer.ts';
import { discordMessages, testMessage } from './message.ts';
import { executionAddress } from './webhook.ts';

/**
 * 5 per 2 seconds for a webhook (not 5 per second), according to Discord's staff and its headers, and
 * 30 per minute for a channel, which no header announces (discord/discord-api-docs#367). A 429 shows
 * what other webhooks of the channel use up.
 */
const RATES: readonly Rate[] = [
  { count: 5, per: 2_000 },
  { count: 30, per: 60_000 },
];

const METHOD = 'POST webhook';

/** Announces through one webhook. The answer to GET holds the secret: only parts of it are kept. */
export function connectDiscord(
  { webhook }: NonNullable<NotifySettings['discord']>,
  line: Line,
): Channel {
  const post = { ...line, method: METHOD };
  const address = () => executionAddress(webhook.reveal());
  return {
    rates: RATES,
    send: ({ payload: body }, timeout) =>
      exchange(post, address(), { method: 'POST', body, timeout }, judgeDiscord),
    async inspect() {
      const url = new URL(address());
      url.search = '';
      const get = { ...line, method: 'GET webhook' };
      const reply = await ask(get, url.href, { method: 'GET' }, judgeDiscord, (body) => ({
        id: wordOf(body.id),
        name: wordOf(body.name),
        channel_id: wordOf(body.channel_id),
      }));
      return 'problem' in reply
        ? { healthy: false, facts: {}, advice: [], problem: reply.problem }
        : { healthy: true, facts: { webhook: reply.value }, advice: [] };
    },
    async sendTest() {
      const request = { method: 'POST', body: testMessage() } as const;
      const reply = await ask(post, address(), request, judgeDiscord, (body) => ({
        message_id: wordOf(body.id),
        channel_id: wordOf(body.channel_id),
      }));
      if ('problem' in reply) return { delivered: false, problem: reply.problem };
      return { delivered: true, method: METHOD, httpStatus: reply.httpStatus, answer: reply.value };
    },
  };
}

export const discord: Service = {
  title: 'Discord',
  credentials: ['discord_webhook'],
  movingKey: undefined,
  secret: 'address',
  unhealthy: 'the webhook accepts no messages',
  method: METHOD,
  codeEscapes: false,
  placeholders: { discord_webhook: 'https://discord.com/api/webhooks/1/x' },
  // Only the id, e.g. `webhook 1234567890`.
  mask(address) {
    const id = /\/webhooks\/(\d{1,20})(?:\/|$)/.exec(address)?.[1];
    return `webhook ${id ?? '…'}`;
  },
  secretsOf({ discord: hook }) {
    const address = hook?.webhook.reveal();
    if (address === undefined) return [];
    return [address, new URL(executionAddress(address)).pathname.replace(/^.*\//, '')];
  },
  identityOf: ({ discord: hook }) => hook?.webhook.reveal() ?? '',
  // The address is the secret.
  addressOf: () => ({}),
  shownOf: () => ({}),
  rows({ answer }) {
    const { id, name, channel_id: channel } = fieldsOf(fieldsOf(answer).webhook);
    return id ? [['webhook', `${wordOf(name)}, channel ${wordOf(channel)}`]] : [];
  },
  placeOf: ({ channel_id: channel }) =>
    channel ? `channel ${wordOf(channel)}` : "the webhook's channel",
  messages: discordMessages,
  connect: ({ discord: hook }, line) => hook && connectDiscord(hook, line),
};
