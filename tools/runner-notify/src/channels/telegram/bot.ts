/** The methods of the Bot API, and what they say a bot may do: core.telegram.org/bots/api#available-methods. */
import type { Secret } from '@runner/common/secrets/secret';
import type { RequestLine } from '../../service/contract.ts';
import {
  ANSWER_MAX,
  ask,
  EXCHANGE_TIMEOUT,
  type Reply,
  type Request,
} from '../../service/exchange.ts';
import { type Fields, fieldsOf, wordOf } from '../../service/fields.ts';
import { judgeTelegram } from './answer.ts';

/** Seconds that getUpdates waits for something new; Telegram throttles shorter polling. */
const POLL = 25;

/** Always sent: the service remembers the list of an earlier caller. */
const WANTED_UPDATES = [
  'message',
  'edited_message',
  'channel_post',
  'edited_channel_post',
  'my_chat_member',
  'chat_join_request',
];

/** The bot, from getMe. */
export type Me = ReturnType<typeof meOf>;
/** A chat, from getChat. */
export type ChatFacts = ReturnType<typeof chatFactsOf>;
/** The bot's standing in a chat, from getChatMember. */
type Member = ReturnType<typeof memberOf>;

/** The read-only methods that this tool calls. */
export type Bot = ReturnType<typeof openBot>;

/** A token that Telegram accepted, and its bot. */
export interface KnownBot {
  readonly token: Secret;
  readonly bot: Bot;
  readonly me: Me;
}

/** `apiUrl` without a trailing slash. */
export function openBot(apiUrl: string, token: Secret, line: RequestLine) {
  const call = async <T>(
    method: string,
    body: Fields,
    read: (result: unknown) => T,
    more: Pick<Request, 'timeout' | 'signal' | 'limit'> = {},
  ): Promise<Reply<T>> => {
    const url = `${apiUrl}/bot${token.reveal()}/${method}`;
    const request = { method: 'POST', body, ...more } as const;
    const reply = await ask({ ...line, method }, url, request, judgeTelegram);
    return 'problem' in reply ? reply : { value: read(reply.value.result) };
  };
  return {
    me: () => call('getMe', {}, (result) => meOf(fieldsOf(result))),
    /** The host of the webhook that gets the bot's updates; empty when there is none. */
    webhookHost: () =>
      call('getWebhookInfo', {}, (result) => {
        const url = wordOf(fieldsOf(result).url);
        // The rest of the address may be that program's secret.
        return URL.canParse(url) ? new URL(url).host : url && 'an unknown host';
      }),
    /** Waits for updates without confirming them: they may be another program's. */
    updates: (signal: AbortSignal) =>
      call(
        'getUpdates',
        { timeout: POLL, limit: 100, allowed_updates: WANTED_UPDATES },
        (result) => (Array.isArray(result) ? result.map(fieldsOf) : []),
        { signal, timeout: POLL * 1000 + EXCHANGE_TIMEOUT, limit: ANSWER_MAX * 64 },
      ),
    chat: (id: string) =>
      orUnknown(
        call('getChat', { chat_id: id }, (result) => chatFactsOf(fieldsOf(result), id)),
        chatFactsOf({}, id),
      ),
    member: (chatId: string, userId: number) =>
      orUnknown(
        call('getChatMember', { chat_id: chatId, user_id: userId }, (result) =>
          memberOf(fieldsOf(result)),
        ),
        memberOf({}),
      ),
  };
}

/** A server answers 404 to a method it does not have: the answer stays unknown. */
async function orUnknown<T>(asked: Promise<Reply<T>>, unknown: T): Promise<Reply<T>> {
  const reply = await asked;
  if (!('problem' in reply) || reply.problem.http_status !== 404) return reply;
  return { value: unknown };
}

function meOf({ id, username, can_read_all_group_messages: readsAll }: Fields) {
  // Privacy mode is off: the bot reads every message of its groups.
  return { id: Number(id), username: wordOf(username), readsAll: readsAll === true };
}

/** Reads a Chat object; `otherwise` is its id when it has none. */
export function chatFactsOf(chat: Fields, otherwise = '') {
  const name = [chat.first_name, chat.last_name].map(wordOf).filter(Boolean).join(' ');
  const { can_send_messages } = fieldsOf(chat.permissions);
  return {
    id: wordOf(chat.id) || otherwise,
    /** Empty when the server does not say. */
    type: wordOf(chat.type),
    /** Of a person: the name. */
    title: wordOf(chat.title) || name || wordOf(chat.username),
    isForum: chat.is_forum === true,
    /** False: members other than administrators may not write. */
    membersMayPost: can_send_messages !== false,
  };
}

function memberOf({ status, can_post_messages, can_send_messages }: Fields) {
  const stated = [can_post_messages, can_send_messages].find((each) => each !== undefined);
  return {
    /** Empty when the server does not say. */
    status: wordOf(status),
    /** Undefined where the service does not say for this status. */
    mayPost: stated === undefined ? undefined : stated === true,
  };
}

const GROUPS = ['group', 'supergroup'];
const RULERS = ['administrator', 'creator'];
const GONE = ['left', 'kicked'];

const CHANNEL_ADVICE =
  'make the bot an administrator of the channel, with the permission to post messages';

/** Whether the bot can post, and what to change, by the answers of getChat and getChatMember. */
export function rightsOf(chat: ChatFacts, { status, mayPost }: Member) {
  if (status === '') return { status, canPost: true, advice: [] };
  const ruler = RULERS.includes(status);
  if (chat.type === 'channel') {
    const canPost = ruler && mayPost !== false;
    return { status, canPost, advice: canPost ? [] : [CHANNEL_ADVICE] };
  }
  if (!GROUPS.includes(chat.type)) return { status, canPost: true, advice: [] };
  if (GONE.includes(status)) {
    const words =
      status === 'kicked' ? 'the bot was removed from the group' : 'the bot is not in the group';
    return { status, canPost: false, advice: [`${words}: add it again`] };
  }
  const canPost = ruler || (mayPost !== false && chat.membersMayPost);
  return {
    status,
    canPost,
    advice: canPost ? [] : ['the bot may not write in the group: allow it to send messages'],
  };
}
