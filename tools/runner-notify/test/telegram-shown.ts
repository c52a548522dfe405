/** What a reader of Telegram sees of a message, by the parser of the stand-in. */
import { parseText } from '@runner/testing/telegram-parse';
import * as assert from 'uvu/assert';
import type { Message } from '../src/service/contract.ts';

/** What Telegram does to any text: controls become spaces, some marks go, white space at the ends too. */
export function arrives(text: string): string {
  return text
    .replace(/[\r\u2028-\u202e]|\u0333|\u033f|\u030a/g, '')
    .replace(/[\0-\x09\x0b-\x1f]/g, ' ')
    .replace(/^[ \n]+|[ \n]+$/g, '');
}

/** What is shown of a message, which must be accepted within every limit. */
export function shown({ payload }: Message): string {
  const text = payload.text as string;
  assert.is(payload.parse_mode, 'MarkdownV2');
  assert.ok(Buffer.byteLength(text) <= 32_768, 'too many bytes before parsing');
  const parsed = parseText(text, 'MarkdownV2');
  assert.ok(parsed.ok, `${JSON.stringify(parsed)} for ${JSON.stringify(text)}`);
  assert.ok(parsed.ok && parsed.codepoints <= 4096, 'too many characters after parsing');
  return parsed.ok ? parsed.text : '';
}

/** The same message without markup. */
export function plain(message: Message): string {
  const other = message.instead('markup');
  assert.ok(other && !('parse_mode' in other.payload));
  return other?.payload.text as string;
}
