/** What Telegram tells about a bot and its chat. */
import type { NotifySettings } from '@runner/common/config/settings';
import { fieldsOf, wordOf } from '../fields.ts';
import type { Inspection, Probe, Trial } from '../probe.ts';
import { TEST_TEXT, TEST_TITLE } from '../probe.ts';
import type { Reply, Wire } from '../reply.ts';
import { migratedTo } from './answer.ts';
import { type Bot, chatFactsOf, openBot } from './bot.ts';
import { markdownV2 } from './markup.ts';
import { rightsOf } from './rights.ts';

type Settings = NonNullable<NotifySettings['telegram']>;

/** Asks about the configured bot and chat. */
export function telegramProbe(settings: Settings, wire: Wire): Probe {
  const bot = openBot(settings.apiUrl, settings.botToken, wire);
  return {
    inspect: () => inspectChat(bot, settings.chatId),
    async sendTest() {
      const { chatId } = settings;
      const first = await bot.send(testMessage(settings, chatId));
      const movedTo = 'answer' in first && first.answer ? migratedTo(first.answer) : undefined;
      if (movedTo === undefined) return trialOf(first);
      const again = trialOf(await bot.send(testMessage(settings, movedTo)));
      return again.delivered ? { ...again, movedTo } : again;
    },
  };
}

/** Asks for the bot, the chat, and what the bot may do there. */
export async function inspectChat(bot: Bot, chatId: string): Promise<Inspection> {
  const me = await bot.me();
  if ('problem' in me) return { healthy: false, facts: {}, advice: [], problem: me.problem };
  const { id, username, readsAll } = me.value;
  const known = { bot: { id, username, privacy_mode: !readsAll } };
  const chat = await bot.chat(chatId);
  if ('problem' in chat) return { healthy: false, facts: known, advice: [], problem: chat.problem };
  const { type, title, isForum } = chat.value;
  const facts = { ...known, chat: { id: chat.value.id, type, title, is_forum: isForum } };
  // A person has no members: what the bot may do there shows only when it writes.
  if (type === 'private') return { healthy: true, facts, advice: [] };
  const member = await bot.member(chatId, id);
  if ('problem' in member) return { healthy: false, facts, advice: [], problem: member.problem };
  const { status, canPost, advice } = rightsOf(me.value, chat.value, member.value);
  return {
    healthy: canPost,
    facts: { ...facts, rights: { status, can_post: canPost } },
    advice,
  };
}

function testMessage({ threadId }: Settings, chatId: string) {
  return {
    chat_id: chatId,
    ...(threadId !== undefined && { message_thread_id: threadId }),
    text: `🔔 ${markdownV2.bold(TEST_TITLE)}\n${markdownV2.words(TEST_TEXT)}`,
    parse_mode: 'MarkdownV2',
    link_preview_options: { is_disabled: true },
  };
}

function trialOf(reply: Reply<Readonly<Record<string, unknown>>>): Trial {
  if ('problem' in reply) return { delivered: false, problem: reply.problem };
  const { id, type, title } = chatFactsOf(fieldsOf(reply.value.chat));
  const thread = reply.value.message_thread_id;
  return {
    delivered: true,
    method: 'sendMessage',
    httpStatus: reply.httpStatus,
    answer: {
      message_id: wordOf(reply.value.message_id),
      chat: { id, type, title },
      ...(typeof thread === 'number' && { message_thread_id: thread }),
    },
  };
}
