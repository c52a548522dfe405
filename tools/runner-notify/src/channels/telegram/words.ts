/** The bot chat service in words. */
import { fieldsOf, wordOf } from '../fields.ts';
import type { Row, Words } from '../wording.ts';

export const telegramWords: Words = {
  title: 'Telegram',
  credentials: ['telegram_bot_token', 'telegram_chat_id'],
  movingKey: 'telegram_chat_id',
  secret: 'token',
  unhealthy: 'the bot cannot post there',
  rows({ chat_id: id, thread_id: thread, answer }) {
    const facts = fieldsOf(answer);
    const [bot, chat, rights] = [facts.bot, facts.chat, facts.rights].map(fieldsOf);
    const rows: Row[] = [];
    if (bot?.username) {
      const privacy = bot.privacy_mode === true ? 'on' : 'off';
      rows.push(['bot', `@${wordOf(bot.username)}, privacy mode ${privacy}`]);
    }
    if (id !== undefined) {
      const topic = thread === undefined ? '' : `, topic ${thread}`;
      const known = chat?.type ? ` ${wordOf(chat.title)} (${wordOf(chat.type)})` : '';
      rows.push(['chat', `${id}${known}${topic}`]);
    }
    if (rights?.status) {
      const may = rights.can_post === true ? 'may post' : 'may not post';
      rows.push(['rights', `${wordOf(rights.status)}, ${may}`]);
    }
    return rows;
  },
  placeOf(answer) {
    const { title, type, id } = fieldsOf(answer.chat);
    return type
      ? `${wordOf(title)} (${wordOf(type)} ${wordOf(id)})`
      : id
        ? `chat ${wordOf(id)}`
        : 'the chat';
  },
};
