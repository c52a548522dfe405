import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startBell } from './clients.ts';
import { forge } from './forged.ts';
import { storm } from './storm.ts';

const test = suite('storm of calls');

test('10,000 forged calls start nothing and leak nothing', async () => {
  const bell = await startBell();
  await forge(bell, 10_000, 2);
  await bell.close();
});

test('1,000 calls in any order, doubled and lost: the last commit is deployed each time', async () => {
  const { right, deploys, pushes, calls } = await storm(300, 5);
  assert.is(right, 300);
  assert.ok(
    deploys <= pushes && calls >= 1_000,
    `${deploys} deploys, ${pushes} pushes, ${calls} calls`,
  );
});

test.run();
