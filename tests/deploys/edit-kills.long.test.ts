/** Messages that are edited in place, while their writers are killed. */
import { IS_WHOLE } from '@runner/testing/extent';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { stormOf } from './edit-kills.ts';

const SIZE = IS_WHOLE
  ? { kills: 1_000, senders: 18, deployers: 6 }
  : { kills: 30, senders: 4, deployers: 2 };

test(`${SIZE.kills} kills of send and deploy lose, double and reorder no message`, async () => {
  const storm = await stormOf(SIZE);
  process.stdout.write(`${JSON.stringify(storm)}\n`);
  assert.equal(storm.wrong, []);
});

test.run();
