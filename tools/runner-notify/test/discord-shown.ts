/** What a reader of Discord sees of a message, and whether it is within the limits. */
import { codePoints } from '@runner/common/text/plain';
import * as assert from 'uvu/assert';
import type { Message } from '../src/service/contract.ts';

interface Embed {
  color: number;
  description?: string;
  fields?: { name: string; value: string; inline: boolean }[];
  footer: { text: string };
}
interface Payload {
  content: string;
  embeds: [Embed];
  allowed_mentions: unknown;
}

/** The payload, whose every limit is checked. */
export function checked(message: Message): Payload {
  const payload = message.payload as unknown as Payload;
  const [{ description, fields = [], footer = { text: '' } }] = payload.embeds;
  const size = (text: string) => codePoints(text.trim());
  assert.ok(size(payload.content) <= 2000 && size(payload.content) > 0);
  assert.ok(size(footer.text) <= 2048 && fields.length <= 25);
  if (description !== undefined) assert.ok(size(description) > 0 && size(description) <= 4096);
  for (const { name, value } of fields) {
    assert.ok(size(name) > 0 && size(name) <= 256);
    assert.ok(size(value) > 0 && size(value) <= 1024, `${size(value)} in ${name}`);
  }
  const texts = [
    description ?? '',
    footer.text,
    ...fields.flatMap(({ name, value }) => [name, value]),
  ];
  assert.ok(texts.reduce((sum, text) => sum + size(text), 0) <= 6000);
  assert.equal(payload.allowed_mentions, { parse: [] });
  assert.is(JSON.stringify(payload).isWellFormed(), true);
  return payload;
}

/** What stands in code, as Discord shows it; fails when the code would end before its end. */
export function inCode(text: string): string {
  const double = /^``([\s\S]+)``$/.exec(text)?.[1];
  const inner = double ?? /^`([^`]+)`$/.exec(text)?.[1];
  assert.ok(inner !== undefined && !inner.includes('``'), `not one code span: ${text}`);
  assert.not.ok(double?.startsWith('`') || double?.endsWith('`'), `touches its fence: ${text}`);
  return (inner as string).replaceAll('\u200b', '');
}

/** Without the gaps that part back-ticks. */
export const visible = (text: string) => text.replaceAll('\u200b', '');
