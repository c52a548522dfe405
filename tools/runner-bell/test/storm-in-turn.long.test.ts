import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { storm } from './storm.ts';

const test = suite('storm of calls');

test('calls in any order, doubled and lost: the last commit is deployed, in no more deploys than pushes', async () => {
  const { right, deploys, pushes, calls } = await storm(5, 3);
  assert.is(right, 5);
  assert.ok(
    deploys <= pushes && calls > pushes,
    `${deploys} deploys, ${pushes} pushes, ${calls} calls`,
  );
});

test.run();
