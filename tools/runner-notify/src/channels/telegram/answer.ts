/** What an answer of the Bot API means. */
import type { HttpAnswer } from '@runner/common/http/request';
import { jsonObject } from '@runner/common/text/json';
import type { Complaint, SendOutcome } from '../../service/contract.ts';
import { type Call, foreignAnswer, refusedAnswer } from '../../service/exchange.ts';
import { type Fields, fieldsOf } from '../../service/fields.ts';

/** What to check, by what the description says; docs/notifications.md, "No messages arrive". */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [
    /chat not found|PEER_ID_INVALID|chat_id is empty/i,
    'check that the chat_id is right, and negative for groups and channels',
  ],
  [/thread not found|TOPIC_/i, 'check telegram_thread_id: the topic was deleted or closed'],
  [
    /not enough rights|CHAT_WRITE_FORBIDDEN|have no rights|need administrator rights/i,
    'check that the bot may send messages; in a channel it must be an administrator with the post-messages permission',
  ],
  [
    /kicked|not a member|CHANNEL_PRIVATE/i,
    'check that the bot is in the group with privacy off, or is a channel administrator',
  ],
  [
    /blocked by the user|user is deactivated|can't initiate/i,
    'the person must start a chat with the bot again',
  ],
];
const BY_STATUS: Readonly<Record<number, string>> = {
  401: 'check the bot token: it was revoked or is mistyped',
  403: 'check that the bot is in the group with privacy off, or is a channel administrator',
  404: 'check the bot token, and telegram_api_url if it is set',
};

const COMPLAINTS: readonly (readonly [RegExp, Complaint])[] = [
  [/can't parse entities/i, 'markup'],
  [/(?:message|text) is too long/i, 'length'],
];

/** Of a message to edit. */
const MISSING = /message to edit not found|message can't be edited|MESSAGE_ID_INVALID/i;

/** Sorts an answer to sendMessage into the classes of the contract. */
export function judgeTelegram(call: Call, answer: HttpAnswer): SendOutcome {
  const body = jsonObject(answer.body);
  if (typeof body?.ok !== 'boolean') return foreignAnswer(call, answer);
  if (body.ok) return { class: 'delivered', rest: 0 };
  const { status, description, parameters } = errorOf(body, answer);
  // An edit that was made before.
  if (/message is not modified/i.test(description)) return { class: 'delivered', rest: 0 };
  const matching = <T>(rows: readonly (readonly [RegExp, T])[]) =>
    rows.find(([text]) => text.test(description))?.[1];
  return refusedAnswer(call, answer, {
    status,
    description,
    pause: parameters.retry_after,
    hint: matching(HINTS) ?? BY_STATUS[status],
    complaint: status === 400 ? matching(COMPLAINTS) : undefined,
    movedTo: migratedTo(answer),
    missing: MISSING.test(description),
  });
}

/** The id of the supergroup that the chat has become; undefined when it has not. */
export function migratedTo(answer: HttpAnswer): string | undefined {
  const { parameters } = errorOf(jsonObject(answer.body) ?? {}, answer);
  // As written: an id may have more digits than a number keeps.
  const source = /"migrate_to_chat_id"\s*:\s*"?(-?\d{1,20})\b/.exec(answer.body)?.[1];
  return parameters.migrate_to_chat_id === undefined ? undefined : source;
}

function errorOf(body: Fields, answer: HttpAnswer) {
  const { error_code, description, parameters } = body;
  return {
    status: typeof error_code === 'number' ? error_code : answer.status,
    description: typeof description === 'string' ? description : '',
    parameters: fieldsOf(parameters),
  };
}
