/** Messages that are edited in place, while their writers are killed: a thousand kills. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { stormOf } from './edit-kills.ts';

test('1,000 kills of send and deploy by 24 writers lose, double and reorder no message', async () => {
  const storm = await stormOf({ kills: 1_000, senders: 18, deployers: 6 });
  process.stdout.write(`${JSON.stringify(storm)}\n`);
  assert.equal(storm.wrong, []);
});

test.run();
