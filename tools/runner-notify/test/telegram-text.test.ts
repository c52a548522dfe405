import { parseText } from '@runner/testing/telegram-parse';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import vectors from '../../../libs/testing/test/vectors/telegram-parse.json';
import { escapeValue, markdownV2 } from '../src/channels/telegram/message.ts';
import { telegram } from '../src/channels/telegram/telegram.ts';
import type { Message } from '../src/service/contract.ts';
import { NOTICE } from './notices.ts';
import { arrives, shown } from './telegram-shown.ts';

const silent = () => {};

test("every text of Telegram's own vectors survives escaping in text, code, fence and link", () => {
  for (const { text } of vectors.vectors) {
    const line = arrives(`a${text.replaceAll('\n', ' ')}a`);
    const given = `a${text.replaceAll('\n', ' ')}a`;
    for (const markup of [
      markdownV2.words(given),
      markdownV2.bold(given),
      markdownV2.code(given),
      markdownV2.pre(given),
    ]) {
      const parsed = parseText(markup, 'MarkdownV2');
      assert.is(parsed.ok && parsed.text, line);
    }
    assert.ok(parseText(`[a](${escapeValue(given, 'link')})`, 'MarkdownV2').ok);
  }
});

test('a refused length shows half of the error, a quarter, and then none of it', () => {
  const lengths: number[] = [];
  const [first] = telegram.messages({ ...NOTICE, error: 'q'.repeat(800) }, undefined, silent) as [
    Message,
  ];
  for (let message: Message | undefined = first; message; message = message.instead('length')) {
    lengths.push((shown(message).match(/q/g) ?? []).length);
  }
  assert.is(lengths.length, 4);
  assert.is(lengths[0], 800);
  assert.ok((lengths[1] as number) < 400 && (lengths[2] as number) < 200);
  assert.is(lengths[3], 0);
});

test.run();
