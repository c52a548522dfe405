import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { pushAtRandom } from './monorepo.ts';

const test = suite('monorepo');

test('of 20 apps in one repository 1,000 pushes deploy those whose paths changed, and no other', async () => {
  const { needed, done, needless } = await pushAtRandom(20, 1000, 7);
  assert.equal([done, needless], [needed, 0]);
  assert.ok(needed > 300);
});

test.run();
