import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { liveHolder } from '@runner/common/files/lock';
import { freePort, killApp } from '@runner/testing/app';
import { request, startLoad } from '@runner/testing/traffic-proxy';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { suiteOf } from '../deploys/world.ts';
import { makeTrafficWorld, runningSlots } from './world.ts';

const test = suiteOf('traffic through a socket', makeTrafficWorld);

test('connections still open at the end of the drain are closed, and this is reported', async ({
  world,
}) => {
  await world.ship('v0');
  const stream = request(world.proxy.port, '/stream');
  const done = await world.ship('v1', 'good', 'traffic: { type: socket, drain: 500ms }\n');
  assert.is(done.status, 0);
  const words = /drain: 1 connection was open after 0.5s and was closed \(WebSockets or streams\)/;
  assert.match(done.stderr, words);
  assert.match(String(await world.runner('debug', 'log', 'shop').then((log) => log.stdout)), words);
  assert.is((await stream).status, 0);
  assert.equal(runningSlots(world), [world.live()]);
});

test('a rollback during the drain uses the version that still runs', async ({ world }) => {
  const file = 'traffic: { type: socket, drain: 20s }\n';
  await world.ship('v0', 'good', file);
  const before = world.instance().slots;
  const stream = request(world.proxy.port, '/stream');
  const deploying = world.ship('v1', 'good', file);
  const lock = join(world.root, 'locks/shop.lock');
  const isFree = () => world.state().deploying === null && !liveHolder(lock);
  await until(() => world.instance().draining != null && isFree(), 'no drain');
  const load = startLoad(world.proxy.port);
  const rolling = await world.runner('rollback', 'shop');
  assert.is(rolling.status, 0, rolling.stderr);
  assert.is(world.live(), 'a');
  assert.is((await request(world.proxy.port)).version, 'v0');
  assert.equal((await load.end()).failed, []);
  assert.is((await deploying).status, 0);
  assert.equal((world.instance().slots as { a: unknown }).a, (before as { a: unknown }).a);
  assert.equal(runningSlots(world), ['a']);
  void stream;
});

test('after a reboot fetch --deploy says that it started an app only if it did, and moves the requests once', async ({
  world,
}) => {
  const moves = join(world.root, 'moves');
  const command = `traffic: { type: command, ports: [${world.port}, ${await freePort()}], run: "echo $PORT >> ${moves}", drain: 1s }\n`;
  const shipped = await world.ship('v1', 'good', command);
  assert.is(shipped.status, 0, shipped.stderr);
  const boot = (id: string) => {
    const path = join(world.root, 'state/shop.json');
    const state = JSON.parse(readFileSync(path, 'utf8'));
    state.instances.default.slots.a.boot_id = id;
    writeFileSync(path, JSON.stringify(state));
  };
  const fetched = async () => (await world.runner('fetch', '--deploy')).stderr;
  const moved = () => readFileSync(moves, 'utf8').trim().split('\n').length;
  const before = moved();
  boot('00000000-0000-0000-0000-000000000000');
  assert.equal([await fetched(), await fetched(), moved()], ['', '', before + 1]);
  boot('00000000-0000-0000-0000-000000000000');
  killApp(world.root, 'shop');
  assert.match(await fetched(), 'shop: default was started after a reboot\n');
  assert.equal([await fetched(), moved()], ['', before + 2]);
});

test.run();
