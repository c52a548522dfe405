import { inOrder } from '@runner/deploy/fetch/limit';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

test('a deploy that could not even begin does not hold back the results of later ones', async () => {
  const shown: string[] = [];
  const pass = inOrder(async (result: string) => void shown.push(result));
  const gone = pass(0, () => Promise.reject(new Error('it was removed meanwhile')));
  const later = pass(1, async () => 'second');
  const [first] = await Promise.allSettled([gone, later]);
  assert.is(first.status, 'rejected');
  assert.equal(shown, ['second']);
});

test.run();
