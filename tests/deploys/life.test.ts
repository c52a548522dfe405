/** Start, stop, restart, pause and deploy windows. */
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { fetched, logged, stateOf, type } from './life.ts';
import { deployFile, worldSuite } from './world.ts';

const test = worldSuite('the life of an app');

test('stop is remembered until start or deploy, and recorded with its user', async ({ world }) => {
  await world.launch('v1');
  const stopped = await type(world, 'stop', 'shop', '--reason', 'moving the database', '--json');
  assert.is(stopped.status, 0, stopped.stderr);
  assert.is(JSON.parse(stopped.stdout).result, 'stopped');
  assert.is(await world.page(), null);
  const status = await stateOf(world);
  assert.is(status.state, 'stopped');
  assert.is(status.stopped.reason, 'moving the database');
  assert.is((await type(world, 'status', '--check')).status, 0);
  await world.push('v2');
  const left = await fetched(world);
  assert.is(left.result, 'stopped');
  assert.match(left.text, /^v2 waits: default stopped by \S+: moving the database$/);
  await fetched(world);
  assert.is(logged(world).length, 1);
  assert.is((await type(world, 'start', '--boot')).status, 0);
  assert.is(await world.page(), null);
  const started = await type(world, 'start', 'shop');
  assert.match(started.stdout, /^Started shop v1 \(default\)\n$/);
  assert.is(await world.page(), 'v1');
  assert.match((await type(world, 'start', 'shop')).stdout, /^Runs already: shop v1/);
  const pidFile = join(world.root, 'apps/shop/instances/default/run/pid.json');
  const before = readFileSync(pidFile, 'utf8');
  assert.is((await type(world, 'restart', 'shop')).status, 0);
  assert.is.not(readFileSync(pidFile, 'utf8'), before);
  const kinds = world.kinds().slice(-3);
  assert.equal(kinds, ['AppStopped', 'AppStarted', 'AppRestarted']);
  assert.ok(world.events().at(-1)?.user);
  assert.is((await type(world, 'stop', 'shop')).status, 0);
  await world.push('v3', { deploy: deployFile(world.port, 'build: exit 7') });
  const failed = await world.deploy();
  assert.match(
    failed.stdout,
    /^Failed shop v3 at build .* v1 is active, but stopped, as it was\.\n$/,
  );
  const { active_version, stopped: isStopped } = JSON.parse(
    (await world.deploy(['--json'])).stdout.trim().split('\n').at(-1) ?? '',
  );
  assert.equal([active_version, isStopped], ['v1', true]);
  await world.launch('v4');
  assert.is((await stateOf(world)).state, 'ok');
  assert.is((await type(world, 'stop', 'shop', '--instance', 'web')).status, 1);
  assert.is((await type(world, 'audit', 'verify')).status, 0);
});

test('what ran before the root was moved is ended by restart and stop', async ({ world }) => {
  await world.launch('v1');
  const root = `${world.root}-moved`;
  renameSync(world.root, root);
  try {
    const restarted = await run('runner-restart', ['shop'], { root });
    assert.is(restarted.status, 0, `${restarted.stdout}${restarted.stderr}`);
    assert.is(await world.page(), 'v1');
    // A second name of the root, which what runs does not know.
    renameSync(root, world.root);
    assert.is((await type(world, 'stop', 'shop')).status, 0);
    assert.is(await world.page(), null);
  } finally {
    if (existsSync(root)) renameSync(root, world.root);
  }
});

test.run();
