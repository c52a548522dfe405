import { parseText } from '@runner/testing/telegram-parse';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import vectors from '../../../libs/testing/test/vectors/telegram-parse.json';
import { escapeValue, markdownV2 } from '../src/channels/telegram/message.ts';
import { telegram } from '../src/channels/telegram/telegram.ts';
import { noticeOf } from '../src/message/notice.ts';
import type { Message } from '../src/service/contract.ts';
import { hostileText } from './hostile.ts';
import { longestNotices, NOTICE, NOTICE_OPTIONS } from './notices.ts';
import { arrives, shown } from './telegram-shown.ts';
import { silent } from './telegram-text.ts';

test('the values of a failure stand in its message as they are', async () => {
  await fc.assert(
    fc.asyncProperty(hostileText, hostileText, async (version, error) => {
      const given = { kind: 'DeployFailure', project: 'shop', fields: { version, error } } as const;
      const notice = await noticeOf(given, NOTICE_OPTIONS);
      const [first] = telegram.messages(notice, undefined, silent) as [Message];
      const text = shown(first);
      assert.ok(text.includes(`Version: ${arrives(`.${notice.version}.`).slice(1, -1)}\n`));
      assert.ok(text.endsWith(arrives(`.${notice.error}`).slice(1)));
    }),
    { numRuns: 300 },
  );
});

test('the longest values and a log of back-ticks and backslashes keep within the limits', async () => {
  for (const character of ['x', '`', '\\', '😀', '漢', '.', '`\\']) {
    for (const notice of await longestNotices(character)) {
      const messages = telegram.messages(notice, undefined, silent);
      assert.is(messages.length, ['DeployFailure', 'JobFailed'].includes(notice.eventType) ? 2 : 1);
      for (const message of messages) shown(message);
    }
  }
});

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
