/** The messages that Telegram gets. */
import { codePoints } from '@runner/common/text/plain';
import { TEST_TEXT, TEST_TITLE } from '../../message/announcement.ts';
import type { Message, Service } from '../../service/contract.ts';
import { messagesOf } from '../../service/draft.ts';
import { textWriting } from '../../service/text.ts';
import { escapeValue, markdownV2, withoutEscapes } from './markup.ts';

/** Code points of a text after parsing: tdlib's message_text_length_max. */
const TEXT_MAX = 4096;
/** Bytes of a text before parsing: telegram-bot-api refuses more as "text is too long". */
const RAW_MAX = 32_768;

const writing = textWriting({
  channel: 'telegram',
  markup: markdownV2,
  codeEscapes: true,
  titled: false,
  escapeValue,
  plainLiteral: withoutEscapes,
  max: TEXT_MAX,
  fits: (marked, plain) => codePoints(plain) <= TEXT_MAX && Buffer.byteLength(marked) <= RAW_MAX,
  payload: (text, plain) => ({
    text,
    ...(!plain && { parse_mode: 'MarkdownV2' }),
    link_preview_options: { is_disabled: true },
  }),
});

/** The messages of a notice; `template` is the user's wording of the first. */
export const telegramMessages: Service['messages'] = (...given) => messagesOf(writing, ...given);

/** A test notification. */
export const TEST_MESSAGE: Message = {
  payload: {
    text: `🔔 ${markdownV2.bold(TEST_TITLE)}\n${markdownV2.words(TEST_TEXT)}`,
    parse_mode: 'MarkdownV2',
    link_preview_options: { is_disabled: true },
  },
  instead: () => undefined,
};
