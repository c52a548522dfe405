import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { telegram } from '../src/channels/telegram/telegram.ts';
import { noticeOf } from '../src/message/notice.ts';
import { hostileRecord, longHostileText } from './hostile.ts';
import { NOTICE_OPTIONS } from './notices.ts';
import { arrives, plain, shown } from './telegram-shown.ts';
import { silent } from './telegram-text.ts';

test('whatever the record holds, Telegram takes every message and alters nothing in it', async () => {
  await fc.assert(
    fc.asyncProperty(hostileRecord, async (given) => {
      const notice = await noticeOf(given as never, NOTICE_OPTIONS);
      for (const message of telegram.messages(notice, undefined, silent)) {
        assert.is(shown(message), arrives(plain(message)));
      }
    }),
    { numRuns: 500 },
  );
});

test('hostile text of 100 KB becomes two messages that Telegram takes', async () => {
  const error = fc.sample(longHostileText, { seed: 7, numRuns: 200 }).join('\n').slice(0, 100_000);
  assert.is(error.length, 100_000);
  const notice = await noticeOf(
    { kind: 'DeployFailure', project: 'shop', fields: { error } },
    NOTICE_OPTIONS,
  );
  assert.is(telegram.messages(notice, undefined, silent).map(shown).length, 2);
});

test.run();
