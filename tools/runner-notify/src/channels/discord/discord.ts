/** The webhook chat service. */
import type { NotifySettings } from '@runner/common/config/settings';
import type { Channel, Line, Rate } from '../../service/contract.ts';
import { ask, exchange, type Request } from '../../service/exchange.ts';
import { type Fields, fieldsOf, wordOf } from '../../service/fields.ts';
import { defineService, inspectionOf, onlyForm } from '../../service/section.ts';
import { judgeDiscord } from './answer.ts';
import { TEST_PAYLOAD, writing } from './message.ts';
import { executionAddress, messageAddress } from './webhook.ts';

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
const EDIT_METHOD = 'PATCH webhook message';

/** Announces through one webhook. The answer to GET holds the secret: only parts of it are kept. */
export function connectDiscord(
  { webhook }: NonNullable<NotifySettings['discord']>,
  line: Line,
): Channel {
  const address = () => executionAddress(webhook.reveal());
  const call = (method: string, url: string, request: Request) =>
    exchange({ ...line, method }, url, request, judgeDiscord);
  const send: Channel['send'] = ({ payload: body }, timeout) =>
    call(METHOD, address(), { method: 'POST', body, timeout });
  return {
    rates: RATES,
    send,
    edit: (id, { payload: body }, timeout) =>
      call(EDIT_METHOD, messageAddress(webhook.reveal(), id), { method: 'PATCH', body, timeout }),
    idOf: ({ id }) => wordOf(id),
    async inspect() {
      const url = new URL(address());
      url.search = '';
      const get = { ...line, method: 'GET webhook' };
      const read = ({ id, name, channel_id }: Fields) => ({
        webhook: { id: wordOf(id), name: wordOf(name), channel_id: wordOf(channel_id) },
      });
      return inspectionOf(await ask(get, url.href, { method: 'GET' }, judgeDiscord, read));
    },
    sendTest: () => send(onlyForm(TEST_PAYLOAD)),
  };
}

export const discord = defineService({
  title: 'Discord',
  credentials: ['discord_webhook'],
  secret: 'address',
  unhealthy: 'the webhook does not accept messages',
  method: METHOD,
  edits: true,
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
  rows({ answer }) {
    const { id, name, channel_id: channel } = fieldsOf(fieldsOf(answer).webhook);
    return id ? [['webhook', `${wordOf(name)}, channel ${wordOf(channel)}`]] : [];
  },
  reportOf: ({ id, channel_id }) => ({ message_id: wordOf(id), channel_id: wordOf(channel_id) }),
  placeOf: ({ channel_id: channel }) =>
    channel ? `channel ${wordOf(channel)}` : "the webhook's channel",
  writing,
  connect: ({ discord: hook }, line) => hook && connectDiscord(hook, line),
});
