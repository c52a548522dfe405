/** What a watch compares with, where its way back leads, and what is said of both meanwhile. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { runningPid } from '@runner/common/files/process';
import { trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { isOver, shipWatched, TRAFFIC, watched, watcher, watchSuite } from './watch.ts';

const test = watchSuite('ways of a watch');

test('what HAProxy answered before the first release is not usual', async ({ world }) => {
  const counts = { failed: 900, all: 1_000 };
  const stats = createServer((socket) => {
    const cells = `# pxname,svname,hrsp_2xx,hrsp_5xx,\nshop,BACKEND,${counts.all - counts.failed},${counts.failed},\n`;
    socket.once('data', () => socket.end(cells));
  }).listen(join(world.root, 'admin'));
  const watch = `{ for: 10s, haproxy: { socket: "${join(world.root, 'admin')}", backend: shop } }`;
  let share = 0;
  const timer = setInterval(() => {
    counts.all += 20;
    counts.failed += 20 * share;
  }, 100);
  try {
    await world.ship('v1', 'good', `${TRAFFIC}watch: ${watch}\n`);
    await until(isOver(world), 'the watch does not end');
    assert.match(String(watched(world)?.reason), /; requests: 5xx 0\.0 % of \d+$/);
    await world.ship('v2', 'good', `${TRAFFIC}watch: ${watch}\n`);
    share = 0.2;
    await until(isOver(world), 'the watch does not end');
    assert.match(String(watched(world)?.reason), /^requests: 5xx 0\.0 % → \d+\.\d % of \d+$/);
  } finally {
    clearInterval(timer);
    stats.close();
  }
});

test('the way back is to what still runs, also of the same commit or with keep: 1', async ({
  world,
}) => {
  const bad = join(world.root, 'bad');
  const server = String(trafficFiles('v0')['server.js']).replace(
    "manner === 'fading'",
    `require('node:fs').existsSync('${bad}')`,
  );
  const deploy = trafficFile(`keep: 1\nwatch: 5m\n${TRAFFIC}`);
  const push = (version: string) =>
    world.push(version, { deploy, files: { ...trafficFiles(version), 'server.js': server } });
  const serving = () => runningPid(join(world.dir, 'run', world.live() ?? ''));
  await world.ship('u0', 'good', TRAFFIC);
  await push('v0');
  await world.deploy();
  const [pid, { current }] = [serving(), world.instance()];
  writeFileSync(bad, '');
  for (const version of ['v0', 'v1']) {
    if (version === 'v1') await push('v1');
    const done = await world.deploy();
    assert.is(done.status, 0, done.stderr);
    await until(isOver(world), 'the watch does not end');
    assert.equal([serving(), world.instance().current], [pid, current]);
    assert.equal(world.kinds().slice(-2), ['WatchFailed', 'RollbackSuccess']);
  }
  assert.match((await world.runner('fetch', '--deploy')).stdout, 'shop: on hold: v1 failed');
  assert.is((await world.runner('audit', 'verify')).status, 0);
});

test('what still runs and is of the same commit is passed over if it is not healthy either', async ({
  world,
}) => {
  const bad = join(world.root, 'bad');
  const server = String(trafficFiles('v2')['server.js']).replace(
    "manner === 'unhealthy'",
    `require('node:fs').existsSync('${bad}')`,
  );
  await world.ship('v1', 'good', TRAFFIC);
  const deploy = trafficFile(`watch: 5m\n${TRAFFIC}`);
  await world.push('v2', { deploy, files: { ...trafficFiles('v2'), 'server.js': server } });
  for (const done of [await world.deploy(), await world.deploy()])
    assert.is(done.status, 0, done.stderr);
  writeFileSync(bad, '');
  await until(isOver(world), 'the watch does not end');
  assert.equal(world.kinds().slice(-2), ['WatchFailed', 'RollbackSuccess']);
  assert.is((world.instance().current as { version: string }).version, 'v1');
  assert.match((await world.runner('fetch', '--deploy')).stdout, 'shop: on hold: v2 failed');
});

test('a version before whose process has ended is not shown as kept warm', async ({ world }) => {
  await shipWatched(world, '5m');
  const file = join(world.root, 'apps/shop/watch.json');
  await until(() => existsSync(file), 'no watcher');
  assert.match((await world.runner('status', 'shop')).stdout, 'the version before is kept warm');
  const slot = world.live() === 'a' ? 'b' : 'a';
  process.kill(-Number(runningPid(join(world.dir, 'run', slot))), 'SIGKILL');
  const { stdout } = await world.runner('status', 'shop');
  assert.match(stdout, /slot [ab] was kept warm for the watch, but its process has ended/);
  assert.not.match(stdout, /is kept warm/);
  const { instances } = JSON.parse((await world.runner('status', 'shop', '--json')).stdout);
  assert.is(instances[0].draining.running, false);
});

test('a watch lasts no longer because the clock went back, and ends as the log says once it does', async ({
  world,
}) => {
  await shipWatched(world, '10s');
  const [path, shown] = [
    join(world.root, 'state/shop.json'),
    join(world.root, 'apps/shop/watch.json'),
  ];
  await until(() => existsSync(shown), 'no watcher');
  process.kill(watcher(world), 'SIGKILL');
  const later = (text: string) => new Date(Date.parse(text) + 3_600_000).toISOString();
  const before = readFileSync(path, 'utf8');
  writeFileSync(path, before.replace(/(?<="until": ?")[^"]+/g, later));
  await world.runner('fetch', '--deploy');
  await until(isOver(world), 'the watch does not end');
  assert.is(watched(world)?.verdict, 'good', watched(world)?.reason);
  const kinds = world.kinds();
  // As on a full disk.
  await until(() => !existsSync(`/proc/${watcher(world)}`), 'the watcher does not end');
  writeFileSync(path, before);
  await world.runner('fetch', '--deploy');
  await until(isOver(world), 'the watch does not end');
  assert.equal([watched(world)?.verdict, world.kinds()], ['good', kinds]);
});

test.run();
