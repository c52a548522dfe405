/** `runner hold-traffic`: requests wait, or get a page, and none is lost. */
import { mkdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import { request, startLoad } from '@runner/testing/traffic-proxy';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { hold, holderOf, holdSuite, isThere, loseHolder } from './hold.ts';

const test = holdSuite('held traffic');

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
  await loseHolder(world, 'SIGKILL');
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

test('fetch, restart and deploy bring back a process that died, and end a hold that is over', async ({
  world,
}) => {
  await world.ship('v1');
  assert.is((await hold(world, '--for', '1m')).status, 0);
  const commands = [
    () => world.runner('fetch', '--no-notify'),
    () => world.runner('restart', 'shop'),
    () => world.ship('v2'),
  ];
  for (const command of commands) {
    await loseHolder(world, 'SIGTERM');
    const { status, stderr } = await command();
    assert.is(status, 0, stderr);
    assert.match(
      stderr,
      /the process that held the requests of shop has died, and is started again/,
    );
    await until(() => isThere(holderOf(world)), 'no holder is started');
  }
  assert.is((await hold(world, '--for', '2s')).status, 0);
  await loseHolder(world, 'SIGKILL');
  const over = () => Date.parse((world.state().traffic_hold as { until: string }).until);
  await until(() => Date.now() > over(), 'the time does not pass');
  assert.is((await world.runner('restart', 'shop')).status, 0);
  assert.match(String(world.live()), /^[ab]$/);
  assert.equal(await request(world.proxy.port), { status: 200, version: 'v2' });
});

test('requests that cannot be held do not keep fetch from deploying', async ({ world }) => {
  await world.ship('v1');
  assert.is((await hold(world, '--for', '1m')).status, 0);
  // No link can take its place.
  const link = join(world.dir, 'hold/current');
  rmSync(link);
  mkdirSync(join(link, 'x'), { recursive: true });
  rmSync(join(world.dir, 'live'));
  symlinkSync('a', join(world.dir, 'live'));
  await world.push('v2', { deploy: trafficFile(), files: trafficFiles('v2') });
  const fetched = await world.runner('fetch', '--deploy');
  assert.match(fetched.stdout, 'shop: deployed v2', fetched.stderr);
  assert.is((await request(world.proxy.port)).version, 'v2');
});

test.run();
