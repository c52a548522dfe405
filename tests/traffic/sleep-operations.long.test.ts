import { existsSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { fallAsleep, HOST, sleepSuite } from './sleep.ts';
import { askHost, fetch, markPreview, sleepyFiles } from './sleep-world.ts';
import { runningSlots, type TrafficWorld } from './world.ts';

const test = sleepSuite('operations on what sleeps');

async function ship(world: TrafficWorld, version: string) {
  const commit = await world.push(version, { files: sleepyFiles(HOST, version) });
  if (world.state().preview) markPreview(world.root, 'shop', { commit });
  return world.deploy(['--no-notify']);
}

test('what is stopped is not woken; start, restart and deploy wake it; remove removes it', async ({
  world,
}) => {
  await fallAsleep(world);
  assert.is((await world.runner('stop', 'shop')).status, 0);
  assert.is(world.live(), 'a');
  assert.is((await askHost(world.proxy, HOST)).status, 0);
  await fetch(world.root);
  assert.equal(runningSlots(world), []);
  assert.is((await world.runner('start', 'shop')).status, 0);
  assert.is((await askHost(world.proxy, HOST)).text, 'shop v0');
  await sleep(1_100);
  await fetch(world.root);
  assert.match(String(world.live()), /asleep$/);
  const bad = await world.push('v1', {
    files: { ...sleepyFiles(HOST, 'v1'), 'server.js': 'process.exit(1)' },
  });
  markPreview(world.root, 'shop', { commit: bad });
  assert.is((await world.deploy()).status, 1);
  assert.match(String(world.live()), /asleep$/);
  const good = await ship(world, 'v2');
  assert.is(good.status, 0, good.stderr);
  assert.is((await askHost(world.proxy, HOST)).text, 'shop v2');
  await sleep(1_100);
  await fetch(world.root);
  assert.match(String(world.live()), /asleep$/);
  // A preview keeps one release.
  const back = await world.runner('rollback', 'shop');
  assert.is(back.status, 1);
  assert.match(back.stderr, /no earlier version/);
  assert.match(String(world.live()), /asleep$/);
  assert.is((await world.runner('remove', 'shop', '--yes', '--purge')).status, 0);
  assert.not(existsSync(world.dir));
});

test('without the waker nothing falls asleep, and doctor says so of what sleeps', async ({
  world,
  waker,
}) => {
  await fallAsleep(world);
  waker.kill('SIGKILL');
  await waker.done;
  const doctor = await run('runner-doctor', ['--offline', '--json'], { root: world.root });
  assert.match(doctor.stdout, /shop sleeps, and nothing listens on /);
  assert.is((await world.runner('restart', 'shop')).status, 0);
  await sleep(1_100);
  await fetch(world.root);
  assert.match(readlinkSync(join(world.dir, 'live')), /^[ab]$/);
});

test.run();
