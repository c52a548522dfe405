/** The webhook chat service: what its answers mean, and one webhook of it. */
import type { NotifySettings } from '@runner/common/config/settings';
import type { HttpAnswer } from '@runner/common/http/request';
import { jsonObject } from '@runner/common/text/json';
import type { Channel, Rate, RequestLine, SendOutcome } from '../../service/contract.ts';
import {
  ask,
  type Call,
  delayOf,
  exchange,
  foreignAnswer,
  type Request,
  refusedAnswer,
} from '../../service/exchange.ts';
import { type Fields, fieldsOf, wordOf } from '../../service/fields.ts';
import { defineService, inspectionOf, onlyForm } from '../../service/section.ts';
import { TEST_PAYLOAD, writing } from './message.ts';
import { executionAddress, foreignHostIn, foreignWords, messageAddress } from './webhook.ts';

/** JSON error codes: discord.com/developers/docs/topics/opcodes-and-status-codes#json. */
const INVALID_FORM = 50035;
const UNKNOWN_MESSAGE = 10008;

/** What to check; docs/notifications.md, "No messages arrive". */
const BY_STATUS: Readonly<Record<number, string>> = {
  401: 'check the webhook address: its token is not valid',
  403: "check that the webhook may post, and the server's network: its address may be banned for a while",
  404: 'check that the webhook was not deleted, and its address',
};

const TOO_LONG = /MAX_LENGTH|MAX_EMBED_SIZE|or fewer in length|exceeds maximum size|too large/i;

/** Sorts an answer to an executed webhook into the classes of the contract. */
export function judgeDiscord(call: Call, answer: HttpAnswer): SendOutcome {
  const { status } = answer;
  const body = jsonObject(answer.body);
  // Compatible services answer 204, with wait=true or without.
  const taken = status === 204 || (status >= 200 && status < 300 && body !== undefined);
  if (taken) return { class: 'delivered', rest: restOf(answer) };
  if (!body) return foreignAnswer(call, answer);
  // Code 0 means no code.
  const code = typeof body.code === 'number' && body.code > 0 ? body.code : status;
  const details = typeof body.errors === 'object' ? innermost(body.errors, []) : [];
  const said = typeof body.message === 'string' ? body.message : '';
  const long = code === INVALID_FORM && TOO_LONG.test(JSON.stringify(body.errors ?? ''));
  return refusedAnswer(call, answer, {
    status,
    code,
    description: [said, ...details.slice(0, 3)].filter(Boolean).join('; '),
    pause: body.retry_after,
    hint: BY_STATUS[status],
    missing: code === UNKNOWN_MESSAGE,
    complaint: long ? 'length' : undefined,
  });
}

/** Discord announces when a webhook's allowance is used up. */
function restOf(answer: HttpAnswer): number {
  const { headers } = answer;
  return headers['x-ratelimit-remaining'] === '0'
    ? delayOf(answer, headers['x-ratelimit-reset-after'])
    : 0;
}

/** `embeds.0.description: Must be 4096 or fewer in length.` for each `_errors` of a nested error. */
function innermost(errors: unknown, path: readonly string[]): string[] {
  if (errors === null || typeof errors !== 'object' || path.length > 8) return [];
  return Object.entries(errors).flatMap(([key, value]) => {
    if (key !== '_errors' || !Array.isArray(value)) return innermost(value, [...path, key]);
    return value.map(
      (each: unknown) =>
        `${path.join('.')}: ${String((each as { message?: unknown } | null)?.message ?? '')}`,
    );
  });
}

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
  line: RequestLine,
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
      const reply = await ask(get, url.href, { method: 'GET' }, judgeDiscord);
      const foreign = foreignHostIn(url);
      const advice = foreign === undefined ? [] : [foreignWords(foreign)];
      return { ...inspectionOf(reply, read), advice };
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
  rows(_, facts) {
    const { id, name, channel_id: channel } = fieldsOf(facts?.webhook);
    return id ? [['webhook', `${wordOf(name)}, channel ${wordOf(channel)}`]] : [];
  },
  reportOf: ({ id, channel_id }) => ({ message_id: wordOf(id), channel_id: wordOf(channel_id) }),
  placeOf: ({ channel_id: channel }) =>
    channel ? `channel ${wordOf(channel)}` : "the webhook's channel",
  writing,
  connect: ({ discord: hook }, line) => hook && connectDiscord(hook, line),
});
