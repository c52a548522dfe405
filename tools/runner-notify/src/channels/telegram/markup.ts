/** How Telegram text is written: MarkdownV2, or plain where it was refused. */
import type { Phrase } from '../../announcement.ts';
import type { Place } from '../../template.ts';

/** Reserved outside code, the backslash too, which most lists lack: core.telegram.org/bots/api#markdownv2-style. */
const RESERVED = /[\\_*[\]()~`>#+\-=|{}.!]/g;
const RESERVED_IN_CODE = /[\\`]/g;
const RESERVED_IN_LINK = /[\\)]/g;

/** A way to write constant words, values and blocks of text. */
export interface Markup {
  words(text: string): string;
  bold(text: string): string;
  code(value: string): string;
  pre(text: string): string;
}

const escaped = (text: string, reserved: RegExp) => text.replace(reserved, '\\$&');

/** A value escaped for the place of a MarkdownV2 template in which it stands. */
export function escapeValue(value: string, place: Place): string {
  if (place === 'text') return escaped(value, RESERVED);
  return escaped(value, place === 'link' ? RESERVED_IN_LINK : RESERVED_IN_CODE);
}

/** Telegram reads it as formatted text. */
export const markdownV2: Markup = {
  words: (text) => escaped(text, RESERVED),
  bold: (text) => `*${escaped(text, RESERVED)}*`,
  code: (value) => `\`${escaped(value, RESERVED_IN_CODE)}\``,
  // The newline after the fence is no part of the text; without it the first word is a language.
  pre: (text) => `\`\`\`\n${escaped(text, RESERVED_IN_CODE)}\`\`\``,
};

const same = (text: string) => text;
/** No formatting: for a text that was refused with it. */
export const plainText: Markup = { words: same, bold: same, code: same, pre: same };

/** Words stay words, values become code. */
export function phraseText(phrase: Phrase, markup: Markup): string {
  return phrase
    .map((part) => (typeof part === 'string' ? markup.words(part) : markup.code(part.value)))
    .join('');
}

/** A template's literal text without the backslashes that MarkdownV2 needs. */
export function withoutEscapes(text: string): string {
  return text.replace(/\\([\x21-\x7e])/g, '$1');
}
