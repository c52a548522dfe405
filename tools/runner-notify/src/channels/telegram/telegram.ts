/** The bot chat service. */
import type { NotifySettings } from '@runner/common/config/settings';
import type { Channel, Inspection, Rate, RequestLine, StatusRow } from '../../service/contract.ts';
import { exchange } from '../../service/exchange.ts';
import { type Fields, fieldsOf, wordOf } from '../../service/fields.ts';
import { defineService, onlyForm } from '../../service/section.ts';
import { judgeTelegram } from './answer.ts';
import { type Bot, chatFactsOf, openBot, rightsOf } from './bot.ts';
import { TEST_PAYLOAD, writing } from './message.ts';

type Settings = NonNullable<NotifySettings['telegram']>;

/** core.telegram.org/bots/faq: 30 messages per second over all chats, 1 in one chat. */
const RATES: readonly Rate[] = [
  { count: 30, per: 1_000 },
  { count: 1, per: 1_000 },
];
/** Of a group or channel, from the same page. Their ids are negative or names. */
const GROUP_RATE: Rate = { count: 20, per: 60_000 };

const METHOD = 'sendMessage';
const EDIT_METHOD = 'editMessageText';

/** Announces in one chat, or in one topic of it. */
function connectTelegram(settings: Settings, line: RequestLine): Channel {
  const { apiUrl, botToken } = settings;
  const bot = openBot(apiUrl, botToken, line);
  let { chatId } = settings;
  /** Where the chat has moved, until it was reported. */
  let moved: string | undefined;
  const call = (method: string, body: Fields, timeout: number | undefined) =>
    exchange(
      { ...line, method },
      `${apiUrl}/bot${botToken.reveal()}/${method}`,
      { method: 'POST', body, timeout },
      judgeTelegram,
    );
  const send: Channel['send'] = async ({ payload }, timeout, repliesTo) => {
    const post = () => {
      const body = { ...addressOf(settings, chatId), ...payload, ...replyTo(repliesTo) };
      return call(METHOD, body, timeout);
    };
    let outcome = await post();
    if (outcome.class === 'rejected' && outcome.movedTo !== undefined) {
      // The group was upgraded to a supergroup: only its new id is valid now.
      chatId = outcome.movedTo;
      moved = outcome.movedTo;
      outcome = await post();
    }
    if (outcome.class !== 'delivered' || moved === undefined) return outcome;
    const reported = { ...outcome, movedTo: moved };
    moved = undefined;
    return reported;
  };
  return {
    rates: /^\d+$/.test(chatId) ? RATES : [...RATES, GROUP_RATE],
    send,
    edit: (id, { payload }, timeout) =>
      call(EDIT_METHOD, { chat_id: chatId, message_id: Number(id), ...payload }, timeout),
    idOf: (body) => wordOf(fieldsOf(body.result).message_id),
    inspect: () => inspectChat(bot, chatId),
    sendTest: () => send(onlyForm(TEST_PAYLOAD)),
  };
}

/** Sent although the other message may have been deleted. */
function replyTo(id: string | undefined): Fields {
  if (id === undefined) return {};
  return { reply_parameters: { message_id: Number(id), allow_sending_without_reply: true } };
}

function addressOf({ threadId }: Settings, chatId: string): Fields {
  return {
    chat_id: chatId,
    ...(threadId !== undefined && { message_thread_id: threadId }),
  };
}

async function inspectChat(bot: Bot, chatId: string): Promise<Inspection> {
  const me = await bot.me();
  if ('problem' in me) return { healthy: false, facts: {}, advice: [], problem: me.problem };
  const { id, username, readsAll } = me.value;
  const known = { bot: { id, username, privacy_mode: !readsAll } };
  const chat = await bot.chat(chatId);
  if ('problem' in chat) return { healthy: false, facts: known, advice: [], problem: chat.problem };
  const { type, title, isForum } = chat.value;
  const facts = { ...known, chat: { id: chat.value.id, type, title, is_forum: isForum } };
  // A person has no members: only writing shows what the bot may do there.
  if (type === 'private') return { healthy: true, facts, advice: [] };
  const member = await bot.member(chatId, id);
  if ('problem' in member) return { healthy: false, facts, advice: [], problem: member.problem };
  const { status, canPost, advice } = rightsOf(chat.value, member.value);
  return {
    healthy: canPost,
    facts: { ...facts, rights: { status, can_post: canPost } },
    advice,
  };
}

/** Showing four characters of a shorter secret would reveal too much of it. */
const MASKED_MIN = 16;

export const telegram = defineService({
  title: 'Telegram',
  credentials: ['telegram_bot_token', 'telegram_chat_id'],
  movingKey: 'telegram_chat_id',
  secret: 'token',
  unhealthy: 'the bot cannot post there',
  method: METHOD,
  edits: true,
  placeholders: {
    telegram_bot_token: '1:x',
    telegram_chat_id: '1',
    telegram_thread_id: undefined,
  },
  // The bot's id, which is public, and the end of the rest.
  mask(token) {
    const [id = '', rest = ''] = token.split(':');
    return `${id}:…${rest.length < MASKED_MIN ? '' : rest.slice(-4)}`;
  },
  secretsOf({ telegram: bot }) {
    const token = bot?.botToken.reveal();
    return token === undefined ? [] : [token, token.replace(/^.*:/, '')];
  },
  identityOf: ({ telegram: bot }) => [bot?.botToken.reveal(), bot?.chatId, bot?.apiUrl].join('\n'),
  addressOf: ({ telegram: bot }) => (bot ? addressOf(bot, bot.chatId) : {}),
  shownOf: ({ telegram: bot }) => ({
    ...(bot && { chat_id: bot.chatId }),
    ...(bot?.threadId !== undefined && { thread_id: bot.threadId }),
  }),
  rows({ chat_id: id, thread_id: thread }, facts) {
    const [bot, chat, rights] = [facts?.bot, facts?.chat, facts?.rights].map(fieldsOf);
    const rows: StatusRow[] = [];
    if (bot?.username) {
      const privacy = bot.privacy_mode === true ? 'on' : 'off';
      rows.push(['bot', `@${wordOf(bot.username)}, privacy mode ${privacy}`]);
    }
    if (id !== undefined) {
      const topic = thread === undefined ? '' : `, topic ${wordOf(thread)}`;
      const known = chat?.type ? ` ${wordOf(chat.title)} (${wordOf(chat.type)})` : '';
      rows.push(['chat', `${wordOf(id)}${known}${topic}`]);
    }
    if (rights?.status) {
      const may = rights.can_post === true ? 'may post' : 'may not post';
      rows.push(['rights', `${wordOf(rights.status)}, ${may}`]);
    }
    return rows;
  },
  reportOf(body) {
    const { message_id: message, message_thread_id: thread, chat } = fieldsOf(body.result);
    const { id, type, title } = chatFactsOf(fieldsOf(chat));
    return {
      message_id: wordOf(message),
      chat: { id, type, title },
      ...(typeof thread === 'number' && { message_thread_id: thread }),
    };
  },
  placeOf({ chat }) {
    const { title, type, id } = fieldsOf(chat);
    if (type) return `${wordOf(title)} (${wordOf(type)} ${wordOf(id)})`;
    return id ? `chat ${wordOf(id)}` : 'the chat';
  },
  writing,
  connect: ({ telegram: bot }, line) => bot && connectTelegram(bot, line),
});
