import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { pushAtRandom } from './monorepo.ts';

const test = suite('monorepo');

test('of 4 apps in one repository those are deployed whose paths changed, and no other', async () => {
  const { needed, done, needless } = await pushAtRandom(4, 12, 1);
  assert.equal([done, needless], [needed, 0]);
  assert.ok(needed > 4);
});

test.run();
