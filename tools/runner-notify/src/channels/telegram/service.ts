/** The bot chat service, as the rest of the tool knows it. */
import type { Service } from '../service.ts';
import { telegramMessages } from './message.ts';
import { telegram } from './telegram.ts';

/** Fewer characters would tell too much of a short secret by showing four. */
const MASKED_MIN = 16;

export const telegramService: Service = {
  name: 'telegram',
  method: 'sendMessage',
  codeEscapes: true,
  placeholders: {
    telegram_bot_token: '1:x',
    telegram_chat_id: '1',
    telegram_thread_id: undefined,
  },
  /** `123456:…wxyz`: the bot's id, which is public, and the end of the rest. */
  mask(token) {
    const [id = '', rest = ''] = token.split(':');
    return `${id}:…${rest.length < MASKED_MIN ? '' : rest.slice(-4)}`;
  },
  secretsOf({ telegram: bot }) {
    const token = bot?.botToken.reveal();
    return token === undefined ? [] : [token, token.replace(/^.*:/, '')];
  },
  identityOf: ({ telegram: bot }) => [bot?.botToken.reveal(), bot?.chatId, bot?.apiUrl].join('\n'),
  addressOf: ({ telegram: bot }) =>
    bot
      ? {
          chat_id: bot.chatId,
          ...(bot.threadId !== undefined && { message_thread_id: bot.threadId }),
        }
      : {},
  shownOf: ({ telegram: bot }) => ({
    ...(bot && { chat_id: bot.chatId }),
    ...(bot?.threadId !== undefined && { thread_id: bot.threadId }),
  }),
  messages: telegramMessages,
  open: ({ telegram: bot, template }, line) => bot && telegram(bot, template, line),
};
