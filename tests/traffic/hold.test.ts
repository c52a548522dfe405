/** `runner hold-traffic`: requests wait, or get a page, and none is lost. */
import { readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import { request, startLoad } from '@runner/testing/traffic-proxy';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeTrafficWorld, type TrafficWorld } from './world.ts';

const test = suite<{ world: TrafficWorld }>('held traffic');

test.before.each(async (context) => {
  context.world = await makeTrafficWorld();
});
test.after.each(async ({ world }) => {
  await world.runner('hold-traffic', 'shop', '--end');
  await world.close();
});

const hold = (world: TrafficWorld, ...args: string[]) =>
  world.runner('hold-traffic', 'shop', ...args);
const holderOf = ({ root }: TrafficWorld) =>
  (JSON.parse(readFileSync(join(root, 'locks/shop.hold'), 'utf8')) as { pid: number }).pid;

/** The whole answer to one request. */
function answerOf(port: number): Promise<{ status: number; text: string; retry: string }> {
  return new Promise((resolve, reject) => {
    get({ port, path: '/', agent: false }, (answer) => {
      let text = '';
      answer.on('data', (chunk) => {
        text += chunk;
      });
      answer.on('end', () => {
        const retry = String(answer.headers['retry-after']);
        resolve({ status: answer.statusCode ?? 0, text, retry });
      });
    }).on('error', reject);
  });
}

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

test('a page answers with 503 until the time is over, which needs no command', async ({
  world,
}) => {
  await world.ship('v1');
  const page = join(world.root, 'sorry.html');
  writeFileSync(page, '<h1>Back soon</h1>\n');
  const held = await hold(world, '--for', '3s', '--page', page, '--json');
  assert.is(held.status, 0, held.stderr);
  assert.equal(JSON.parse(held.stdout).hold.page, true);
  const answer = await answerOf(world.proxy.port);
  assert.equal([answer.status, answer.text], [503, '<h1>Back soon</h1>\n']);
  assert.match(answer.retry, /^[123]$/);
  await until(() => world.live() !== 'hold', 'the hold does not end');
  assert.equal(await request(world.proxy.port), { status: 200, version: 'v1' });
  assert.is(world.state().traffic_hold, null);
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

test('what cannot be held is refused in a sentence', async ({ world }) => {
  await world.ship('v1', 'good', '');
  const plain = await hold(world);
  assert.is(plain.status, 1);
  assert.match(plain.stderr, /no instance of it is active with 'traffic: socket' \(not_ready\)/);
  for (const length of ['0s', '25h', 'soon'])
    assert.match((await hold(world, '--for', length)).stderr, /at most 24h/);
  assert.is((await hold(world, '--page', '/nowhere')).status, 1);
  assert.is(world.state().traffic_hold, undefined);
});

test.run();
