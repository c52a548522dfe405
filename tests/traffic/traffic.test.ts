import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { liveHolder } from '@runner/common/files/lock';
import { request, startLoad } from '@runner/testing/traffic-proxy';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeTrafficWorld, runningSlots, type TrafficWorld } from './world.ts';

const test = suite<{ world: TrafficWorld }>('traffic through a socket');

test.before.each(async (context) => {
  context.world = await makeTrafficWorld();
});
test.after.each(async ({ world }) => {
  await world.close();
});

test('a deploy and one that fails lose no request', async ({ world }) => {
  const { proxy, dir } = world;
  const first = await world.ship('v0');
  assert.is(first.status, 0, first.stderr);
  assert.is(world.state().version, 2);
  const load = startLoad(proxy.port);
  const good = await world.ship('v1');
  assert.match(good.stderr, /runner deploy: \d+ probes, none failed\n/);
  const bad = await world.ship('v2', 'unhealthy');
  assert.is(bad.status, 1);
  assert.match(bad.stderr, /within 0.6 s; v1 keeps serving, nothing was switched\n/);
  const { failed, versions } = await load.end();
  assert.equal(failed, []);
  assert.equal(versions, ['v0', 'v1']);
  assert.is((await request(proxy.port)).version, 'v1');
  assert.is(readlinkSync(join(dir, 'current')), 'live/current');
  assert.equal(runningSlots(world), [world.live()]);
  const failure = world.events().find(({ event_type: kind }) => kind === 'DeployFailure');
  assert.is(failure?.reason, 'nothing was switched');
  assert.is(failure?.rolled_back, undefined);
  assert.is(failure?.gap_ms, 0);
});

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

test.run();
