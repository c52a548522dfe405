import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { OK, said } from './states.ts';
import { worldSuite } from './world.ts';

const test = worldSuite('states');

test('an app that cannot be fetched is stale, since when and why, until it can', async ({
  world,
}) => {
  await world.push('v1');
  await world.deploy();
  assert.equal(await said(world), OK);
  const edit = (branch: string) =>
    run('runner-edit', ['shop', '--branch', branch], { root: world.root });
  const fetch = () => run('runner-fetch', ['--deploy', '--quiet'], { root: world.root });
  await edit('nope');
  assert.is((await fetch()).status, 1);
  const { doctor, ...stale } = await said(world);
  assert.equal(stale, { list: 'stale', status: 'stale', check: 1 });
  assert.match(
    doctor.join(),
    /^new commits of shop have not been deployed since .*: the repository acme\/shop has no branch 'nope'$/,
  );
  const { stdout } = await run('runner-status', ['shop'], { root: world.root });
  assert.match(stdout, /\n {2}state: +stale\n/);
  assert.match(stdout, /no branch 'nope'/);
  await edit('main');
  assert.is((await fetch()).status, 0);
  assert.equal(await said(world), OK);
});

test('status --check names an app that has only failed so far, and none that still serves', async ({
  world,
}) => {
  const check = () => run('runner-status', ['--check'], { root: world.root });
  await world.push('v1', { deploy: 'build: exit 1\n' });
  assert.is((await world.deploy()).status, 1);
  const first = await check();
  assert.equal([first.status, first.stderr], [1, '']);
  assert.match(first.stdout, /^shop: failing: 1 of 3 attempts used; /);
  await world.launch('v2', { deploy: '' });
  await world.push('v3', { deploy: 'build: exit 1\n' });
  assert.is((await world.deploy()).status, 1);
  assert.is((await check()).status, 0);
});

test.run();
