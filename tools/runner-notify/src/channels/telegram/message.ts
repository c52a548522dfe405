/** The messages that Telegram gets, in MarkdownV2, or plain text where it was refused. */
import { codePoints } from '@runner/common/text/plain';
import { TEST_TEXT, TEST_TITLE } from '../../message/announcement.ts';
import type { Slot } from '../../message/template.ts';
import { type Markup, textWriting } from '../../service/text.ts';

/** Reserved outside code, including the backslash, which most lists omit: core.telegram.org/bots/api#markdownv2-style. */
const RESERVED = /[\\_*[\]()~`>#+\-=|{}.!]/g;
const RESERVED_IN_CODE = /[\\`]/g;
const RESERVED_IN_LINK = /[\\)]/g;

const escaped = (text: string, reserved: RegExp) => text.replace(reserved, '\\$&');

/** A value escaped for its slot of a MarkdownV2 template. */
export function escapeValue(value: string, slot: Slot): string {
  if (slot === 'text') return escaped(value, RESERVED);
  return escaped(value, slot === 'link' ? RESERVED_IN_LINK : RESERVED_IN_CODE);
}

export const markdownV2: Markup = {
  words: (text) => escaped(text, RESERVED),
  bold: (text) => `*${escaped(text, RESERVED)}*`,
  code: (value) => `\`${escaped(value, RESERVED_IN_CODE)}\``,
  link: (text, url) => `[${escaped(text, RESERVED)}](${escaped(url, RESERVED_IN_LINK)})`,
  // Without the newline after the fence, the first word would be a language.
  pre: (text) => `\`\`\`\n${escaped(text, RESERVED_IN_CODE)}\`\`\``,
};

/** Code points of a text after parsing: tdlib's message_text_length_max. */
const TEXT_MAX = 4096;
/** Bytes of a text before parsing: telegram-bot-api refuses more as "text is too long". */
const RAW_MAX = 32_768;

const payloadOf = ({ text, plain }: { readonly text: string; readonly plain: boolean }) => ({
  text,
  ...(!plain && { parse_mode: 'MarkdownV2' }),
  link_preview_options: { is_disabled: true },
});

export const writing = textWriting({
  channel: 'telegram',
  markup: markdownV2,
  codeEscapes: true,
  titled: false,
  escapeValue,
  // Without the backslashes that MarkdownV2 needs.
  plainLiteral: (text) => text.replace(/\\([\x21-\x7e])/g, '$1'),
  max: TEXT_MAX,
  fits: (marked, plain) => codePoints(plain) <= TEXT_MAX && Buffer.byteLength(marked) <= RAW_MAX,
  payload: payloadOf,
});

/** A test notification. */
export const TEST_PAYLOAD = payloadOf({
  text: `🔔 ${markdownV2.bold(TEST_TITLE)}\n${markdownV2.words(TEST_TEXT)}`,
  plain: false,
});
