import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { tellOneCause } from './told-once.ts';

test('a cause that lasts a day with a timer of one minute sends one message, and one at its end', async () => {
  assert.equal(await tellOneCause(1_440), ['❌ Deploy failed', '✅ Checks work again']);
});

test.run();
