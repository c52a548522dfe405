import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { storm } from './storm.ts';

const test = suite('storm of calls');

test('1,000 rounds of calls in any order, doubled and lost: the last commit is deployed each time', async () => {
  const { right, deploys, pushes, calls } = await storm(1_000, 5);
  assert.is(right, 1_000);
  console.log(`(${pushes} pushes, ${calls} calls, ${deploys} deploys)`);
  assert.ok(deploys <= pushes, `${deploys} deploys of ${pushes} pushes`);
});

test.run();
