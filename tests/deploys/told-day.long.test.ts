import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { tellOneCause } from './told-once.ts';

test('a cause that lasts a day at a timer of a minute is one message, and one when it is over', async () => {
  assert.equal(await tellOneCause(1_440), ['❌ Deploy failed', '✅ Checks work again']);
});

test.run();
