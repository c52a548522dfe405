/** The options of `runner notify setup` for Telegram. */
import type { Answers } from '../../service/contract.ts';

/** A chat id; core.telegram.org/bots/api#sendmessage. */
export const CHAT_ID = /^(?:-?\d{1,19}|@[A-Za-z0-9_]{4,64})$/;
/** A topic of a group. */
export const THREAD_ID = /^[1-9]\d{0,14}$/;

export const telegramOptions: Answers = {
  'token-file': {
    kind: 'value',
    placeholder: 'FILE',
    about: 'Telegram: a file with the bot token',
    file: { variable: 'RUNNER_TELEGRAM_TOKEN', what: 'the bot token' },
  },
  'chat-id': {
    kind: 'value',
    placeholder: 'ID',
    about: 'Telegram: the chat, negative for groups and channels, or @name',
    pattern: CHAT_ID,
    wanted: 'a whole number, negative for groups and channels, or @name',
  },
  'thread-id': {
    kind: 'value',
    placeholder: 'N',
    about: 'Telegram: the topic of a group with topics',
    pattern: THREAD_ID,
    wanted: 'a whole number above 0',
    optional: true,
  },
};
