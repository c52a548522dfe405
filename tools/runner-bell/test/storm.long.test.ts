import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { storm } from './storm.ts';

const test = suite('storm of calls');

test('1,000 calls in any order, doubled and lost: the last commit is deployed each time', async () => {
  const { right, deploys, pushes, calls } = await storm(300, 5);
  assert.is(right, 300);
  assert.ok(
    deploys <= pushes && calls >= 1_000,
    `${deploys} deploys, ${pushes} pushes, ${calls} calls`,
  );
});

test.run();
