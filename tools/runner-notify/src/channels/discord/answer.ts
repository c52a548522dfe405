/** What an answer of Discord's webhook means. */
import type { HttpAnswer } from '@runner/common/http/request';
import { jsonObject } from '@runner/common/text/json';
import type { Outcome } from '../../service/contract.ts';
import { type Call, delayOf, foreignAnswer, refusedAnswer } from '../../service/exchange.ts';

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
export function judgeDiscord(call: Call, answer: HttpAnswer): Outcome {
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
    complaint: long || status === 413 ? 'length' : undefined,
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
