/** `runner diff`: what differs in two versions beyond their commits. */
import { run } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deployed, diff } from './diff.ts';
import { inWorld, type World } from './world.ts';

const test = suite('the difference of two versions');

const set = (world: World, name: string, value: string) =>
  run('runner-env', ['set', 'shop', name, '--file', '-'], { root: world.root, stdin: value });

test('names what changed in .deploy.yml, packages and secrets, and no value', () =>
  inWorld(async (world) => {
    await set(world, 'DATABASE_URL', 'postgres://shop:first-secret-1@db/shop');
    await set(world, 'GONE', 'gone-secret-value-1');
    await deployed(world, 'v1', 'keep: 5\n', { left: '1.0.0', moved: '1.0.0' });
    const only = await diff(world);
    assert.is(only.status, 1);
    assert.match(only.stderr, /no version before v1 of 'shop' is kept: give two versions/);
    await set(world, 'DATABASE_URL', 'postgres://shop:second-secret-2@db/shop');
    await run('runner-env', ['unset', 'shop', 'GONE'], { root: world.root });
    await deployed(world, 'v2', 'keep: 6\n', { moved: '2.0.0', right: '1.0.0' });
    const { status, stdout, stderr } = await diff(world);
    assert.is(status, 0, stderr);
    for (const line of [
      'shop: v1 to v2, 1 commit',
      '--- .deploy.yml of v1',
      '-keep: 5',
      '+keep: 6',
      'packages added: right@1.0.0',
      'packages removed: left@1.0.0',
      'packages changed: moved: 1.0.0 to 2.0.0',
      'secrets removed: GONE',
      'secrets changed: DATABASE_URL',
      'units: the same',
    ])
      assert.ok(stdout.split('\n').includes(line), `${line} in ${stdout}`);
    assert.not.match(stdout, /secret-1|secret-2|secret-value/);
    const json = JSON.parse((await diff(world, 'v1', 'v2', '--json')).stdout);
    assert.equal(json.secrets, { added: [], removed: ['GONE'], changed: ['DATABASE_URL'] });
    assert.is(json.from.version, 'v1');
    assert.equal([json.count, json.taken_back], [1, 0]);
    assert.match((await diff(world, 'v2', 'v1')).stdout, /^shop: v2 to v1, 1 commit taken back\n/);
    await deployed(world, 'v3', 'keep: 7\n', {});
    await run('runner-rollback', ['shop', '--to', 'v1', '--no-notify'], { root: world.root });
    // Not v2, which was neither active before v1 was deployed nor before the rollback.
    assert.match((await diff(world)).stdout, /^shop: v3 to v1, 2 commits taken back\n/);
  }));

test.run();
