/** A command by hand that ends an outage: its end is recorded, and the next outage is announced again. */
import { killApp } from '@runner/testing/app';
import { run } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { type World, worldSuite } from './world.ts';

const test = worldSuite('outages');

const fetch = (world: World, args: readonly string[]) =>
  run('runner-fetch', args, { root: world.root });

test('a deploy by hand ends what fetch announced, and the next outage is announced again', async ({
  world,
}) => {
  await world.push('v1', { deploy: 'notify: {}\n' });
  await world.deploy();
  const before = world.events().length;
  const edit = (branch: string) =>
    run('runner-edit', ['shop', '--branch', branch], { root: world.root });
  for (let time = 1; time <= 2; time += 1) {
    await edit('nope');
    await fetch(world, ['--deploy']);
    await fetch(world, ['--deploy']);
    await edit('main');
    assert.is((await world.deploy()).status, 0);
  }
  const once = ['DeployFailure', 'DeployStarted', 'DeploySuccess', 'CheckRecovered'];
  assert.equal(world.kinds().slice(before), [...once, ...once]);
});

test('a start by hand ends what fetch announced as down, and the next outage is announced again', async ({
  world,
}) => {
  await world.push('v1');
  await world.deploy();
  const before = world.events().length;
  for (const [tool, ...args] of [
    ['runner-deploy', 'shop'],
    ['runner-start', 'shop'],
    ['runner-restart', 'shop'],
    ['runner-rollback', 'shop', '--to', 'v1'],
  ] as const) {
    killApp(world.root, 'shop');
    await until(async () => (await world.page()) === null, 'it still answers');
    await fetch(world, ['--deploy']);
    await fetch(world, ['--deploy']);
    const done = await run(tool, args, { root: world.root });
    assert.is(done.status, 0, done.stderr);
  }
  const own = ['DeploySuccess', 'AppStarted', 'AppRestarted', 'RollbackSuccess'];
  assert.equal(
    world
      .kinds()
      .slice(before)
      .filter((kind) => kind !== 'DeployStarted'),
    own.flatMap((kind) => ['AppDown', kind, 'AppUp']),
  );
});

test('a command with --no-notify leaves the end of an outage to the next fetch, which announces it once', async ({
  world,
}) => {
  await world.push('v1');
  await world.deploy();
  let before = world.events().length;
  for (const [tool, ...args] of [
    ['runner-deploy', 'shop', '--no-notify'],
    ['runner-rollback', 'shop', '--to', 'v1', '--no-notify'],
  ] as const) {
    killApp(world.root, 'shop');
    await until(async () => (await world.page()) === null, 'it still answers');
    await fetch(world, ['--deploy']);
    const done = await run(tool, args, { root: world.root });
    assert.is(done.status, 0, done.stderr);
    await fetch(world, ['--deploy', '--no-notify']);
    assert.not.ok(world.kinds().slice(before).includes('AppUp'));
    before = world.events().length;
    await fetch(world, ['--deploy']);
    await fetch(world, ['--deploy']);
    assert.equal(world.kinds().slice(before), ['AppUp']);
    before = world.events().length;
  }
});

test.run();
