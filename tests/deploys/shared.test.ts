import { mkdirSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { inCurrent } from './shared.ts';
import { worldSuite } from './world.ts';

const test = worldSuite('shared');

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
  await world.launch('v2', { deploy: shared, files: files('two') });
  assert.equal([inCurrent(world, 'data/seed'), inCurrent(world, 'settings')], ['two', 'two']);
});

test('what was shared before a path that cannot be is taken back as well', async ({ world }) => {
  const files = (seed: string) => ({ 'data/seed': seed, 'conf/settings': seed });
  const shared = 'shared: [data/, conf/settings]\n';
  const folder = join(world.root, 'apps/shop/instances/default/shared');
  mkdirSync(folder, { recursive: true });
  symlinkSync('/tmp', join(folder, 'conf'));
  await world.push('v1', { deploy: shared, files: files('one') });
  const { status, stderr } = await world.deploy();
  assert.is(status, 1);
  assert.match(stderr, /conf is not a plain folder/);
  unlinkSync(join(folder, 'conf'));
  await world.launch('v2', { deploy: shared, files: files('two') });
  assert.is(inCurrent(world, 'data/seed'), 'two');
});

test('a shared path in another is refused before the build', async ({ world }) => {
  await world.push('v1', { deploy: 'shared: [a/b, a/]\n', files: { 'a/b': '', 'a/c': '' } });
  const { status, stdout } = await world.deploy(['--check']);
  const problem = 'shared: a/b is in a, which is shared: remove one of them';
  assert.equal([status, stdout.includes(`Not ready:\n  ${problem}\n`)], [1, true]);
});

test('a folder of the commit that is named without a slash is shared', async ({ world }) => {
  await world.push('v1', {
    deploy: 'shared: [data, conf/own]\n',
    files: { 'data/seed': 'one', 'conf/own/settings': 'two' },
  });
  const { status, stderr } = await world.deploy();
  assert.is(status, 0, stderr);
  const found = ['data/seed', 'conf/own/settings'].map((path) => inCurrent(world, path));
  assert.equal(found, ['one', 'two']);
});

test.run();
