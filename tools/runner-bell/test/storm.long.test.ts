import { IS_WHOLE } from '@runner/testing/extent';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { storm } from './storm.ts';

const test = suite('storm of calls');
const [ROUNDS, SEED] = IS_WHOLE ? ([1_000, 5] as const) : ([5, 3] as const);

test('calls in any order, doubled and lost: the last commit is deployed, in no more deploys than pushes', async () => {
  const { right, deploys, pushes, calls } = await storm(ROUNDS, SEED);
  assert.is(right, ROUNDS);
  console.log(`(${pushes} pushes, ${calls} calls, ${deploys} deploys)`);
  assert.ok(
    deploys <= pushes && calls > pushes,
    `${deploys} deploys, ${pushes} pushes, ${calls} calls`,
  );
});

test.run();
