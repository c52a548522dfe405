/** Messages that are edited in place, while their writers are killed: 30 of the thousand kills. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { stormOf } from './edit-kills.ts';

test('no message of a killed send or deploy is lost, doubled or out of order', async () => {
  const { wrong } = await stormOf({ kills: 30, senders: 4, deployers: 2 });
  assert.equal(wrong, []);
});

test.run();
