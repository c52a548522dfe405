/** Telegram's MarkdownV2, or plain text where it was refused. */
import type { Slot } from '../../message/template.ts';
import type { Markup } from '../../service/text.ts';

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
  // Without the newline after the fence, the first word would be a language.
  link: (text, url) => `[${escaped(text, RESERVED)}](${escaped(url, RESERVED_IN_LINK)})`,
  pre: (text) => `\`\`\`\n${escaped(text, RESERVED_IN_CODE)}\`\`\``,
};

/** A template's literal text without the backslashes that MarkdownV2 needs. */
export function withoutEscapes(text: string): string {
  return text.replace(/\\([\x21-\x7e])/g, '$1');
}
