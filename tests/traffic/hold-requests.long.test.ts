/** `runner hold-traffic`: requests wait, or get a page, and none is lost. */
import { readFileSync, readlinkSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import { request, startLoad } from '@runner/testing/traffic-proxy';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { hold, holdSuite } from './hold.ts';
import type { TrafficWorld } from './world.ts';

const test = holdSuite('held traffic');

const holderOf = ({ root }: TrafficWorld) =>
  (JSON.parse(readFileSync(join(root, 'locks/shop.hold'), 'utf8')) as { pid: number }).pid;

test('requests wait until the hold ends, also while a deploy switches, and none is lost', async ({
  world,
}) => {
  await world.ship('v1');
  const held = await hold(world, '--for', '1m');
  assert.is(held.status, 0, held.stderr);
  assert.match(held.stdout, /^shop: requests wait until \S+ \S+ UTC, held by \S+\n$/);
  assert.is(world.live(), 'hold');
  const load = startLoad(world.proxy.port);
  await sleep(300);
  const shipped = await world.ship('v2');
  assert.is(shipped.status, 0, shipped.stderr);
  assert.is(world.live(), 'hold');
  const status = await world.runner('status', 'shop');
  assert.match(status.stdout, /traffic: +requests wait until /);
  assert.is((await world.runner('restart', 'shop')).status, 0);
  const ended = await hold(world, '--end');
  assert.equal([ended.status, ended.stdout], [0, 'shop: requests reach the app\n']);
  assert.match(String(world.live()), /^[ab]$/);
  await sleep(300);
  const { requests, failed, versions } = await load.end();
  assert.ok(requests > 50, String(requests));
  assert.equal([failed, versions], [[], ['v2']]);
  assert.is(readlinkSync(join(world.dir, 'current')), 'live/current');
  assert.equal(
    world.kinds().filter((kind) => String(kind).startsWith('Traffic')),
    ['TrafficHeld', 'TrafficReleased'],
  );
  assert.is((await world.runner('verify', 'shop')).status, 0);
  assert.is((await hold(world, '--end')).stdout, 'shop: no request was held\n');
});

test('a killed holder is started again by fetch, and who gave up never reaches the app', async ({
  world,
}) => {
  const seen = `require('node:http').createServer((request, response) => {
    if (request.url !== '/health') require('node:fs').appendFileSync('seen', request.url + '\\n');
    response.end();
  }).listen(process.env.PORT);`;
  const files = { ...trafficFiles('v1'), 'server.js': seen, seen: '' };
  await world.push('v1', { deploy: trafficFile(), files });
  assert.is((await world.deploy()).status, 0);
  assert.is((await hold(world, '--for', '1m')).status, 0);
  process.kill(holderOf(world), 'SIGKILL');
  await until(() => !isThere(holderOf(world)), 'the holder does not end');
  const fetched = await world.runner('fetch', '--deploy', '--no-notify');
  assert.is(fetched.status, 0, fetched.stderr);
  const gone = get({ port: world.proxy.port, path: '/gone', agent: false });
  gone.on('error', () => {});
  await sleep(500);
  gone.destroy();
  const stayed = request(world.proxy.port, '/stayed');
  await sleep(300);
  assert.is((await hold(world, '--end')).status, 0);
  assert.is((await stayed).status, 200);
  assert.is(readFileSync(join(world.dir, 'live/current/seen'), 'utf8'), '/stayed\n');
});

const isThere = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test.run();
