import { IS_WHOLE } from '@runner/testing/extent';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { pushAtRandom } from './monorepo.ts';

const test = suite('monorepo');
const [apps, pushes, seed, atLeast] = IS_WHOLE
  ? ([20, 1_000, 7, 300] as const)
  : ([4, 12, 1, 4] as const);

test(`${pushes} pushes to ${apps} apps in one repository deploy those whose paths changed, and no other`, async () => {
  const { needed, done, needless } = await pushAtRandom(apps, pushes, seed);
  assert.equal([done, needless], [needed, 0]);
  assert.ok(needed > atLeast);
});

test.run();
