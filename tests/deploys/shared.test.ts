import * as assert from 'uvu/assert';
import { inCurrent, sharedSuite } from './shared.ts';

const test = sharedSuite('shared');

test('the first content comes from the first deploy that succeeds', async ({ world }) => {
  const files = (seed: string) => ({ 'data/seed': seed, settings: seed });
  const shared = 'shared: [data/, settings]\n';
  for (const end of [
    'build: exit 1\n',
    'health: { cmd: "false", interval: 50ms, within: 60ms }\n',
  ]) {
    await world.push('v1', { deploy: shared + end, files: files('one') });
    assert.is((await world.deploy()).status, 1);
  }
  await world.push('v2', { deploy: shared, files: files('two') });
  assert.is((await world.deploy()).status, 0);
  assert.equal([inCurrent(world, 'data/seed'), inCurrent(world, 'settings')], ['two', 'two']);
});

test.run();
