import { orderOf } from '@runner/deploy/git/tags';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

test('a tag that is too long to be a version is not compared with the pattern', async () => {
  const { names } = await orderOf({ pattern: '*-*-*-*-*-*-prod', semver: null });
  const began = performance.now();
  assert.not.ok(names('-'.repeat(4_000)));
  assert.ok(performance.now() - began < 1_000);
  assert.ok(names('a-b-c-d-e-f-prod'));
});

test.run();
