/** A release is judged after it is live: it passes, is left for the version before, or cannot be judged. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { runningPid } from '@runner/common/files/process';
import { killApp } from '@runner/testing/app';
import { start } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import { request } from '@runner/testing/traffic-proxy';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { recording } from '../deploys/fake-programs.ts';
import { isOver, recordOf, shipWatched, TRAFFIC, watched, watcher, watchSuite } from './watch.ts';
import { runningSlots } from './world.ts';

const test = watchSuite('watch');

test('a release that stays good passes; until then the version before is kept running', async ({
  world,
}) => {
  const done = await shipWatched(world, '15s');
  assert.match(done.stderr, 'the release is being watched: runner watch shop');
  assert.equal(runningSlots(world), ['a', 'b']);
  const shown = await world.runner('watch', 'shop');
  assert.is(shown.status, 0, shown.stdout + shown.stderr);
  assert.match(
    shown.stdout,
    /^shop v2 is watched until .* UTC, the version before is kept running/,
  );
  assert.match(shown.stdout, /good {2}health of default: \d+ of \d+ (?:good|failed)/);
  assert.match(
    shown.stdout,
    /\nGood: shop v2: health of default: .*; process of default: runs; output/,
  );
  await until(() => runningSlots(world).length === 1, 'the version before still runs');
  const passed = recordOf(world, 'WatchPassed');
  assert.equal([passed?.version, passed?.verdict], ['v2', 'good']);
  assert.is(world.state().held, null);
  assert.is((await world.runner('audit', 'verify')).status, 0);
});

const line = (status: number, seconds = 0.02) =>
  `10.0.0.1 - - [28/Nov/2026:08:00:00 +0000] "GET / HTTP/1.1" ${status} 12 "-" "-" ${seconds.toFixed(3)}\n`;

test('errors in the access log beyond those of before are found; policy report leaves the release', async ({
  world,
}) => {
  const log = join(world.root, '..', 'access.log');
  writeFileSync(log, line(200).repeat(500) + line(502));
  await shipWatched(world, `{ for: 5m, policy: report, access_log: "${log}" }`);
  const timer = setInterval(
    () => appendFileSync(log, line(200).repeat(20) + line(500).repeat(4)),
    100,
  );
  await until(isOver(world), 'the watch does not end').finally(() => clearInterval(timer));
  const failed = recordOf(world, 'WatchFailed');
  assert.match(String(failed?.reason), /^requests: 5xx 0\.2 % → 1\d\.\d % of \d+$/);
  const { current } = world.instance() as { current: { version: string } };
  assert.is(current.version, 'v2');
  assert.is(world.state().held, null);
  assert.match((await world.runner('status', 'shop')).stdout, /watch: +v2, bad, /);
  const checked = await world.runner('status', '--check');
  assert.is(checked.status, 1);
  assert.match(checked.stdout, /^shop: v2 was judged bad, and runs: requests: 5xx /);
});

test('what a release answered that was left again does not count as usual for the next one', async ({
  world,
}) => {
  const log = join(world.root, '..', 'access.log');
  writeFileSync(log, line(200).repeat(500));
  const watch = `{ for: 5m, access_log: "${log}" }`;
  await shipWatched(world, watch);
  const reasons: string[] = [];
  for (const version of ['v2', 'v3']) {
    if (version === 'v3') await world.ship('v3', 'good', `${TRAFFIC}watch: ${watch}\n`);
    const timer = setInterval(() => appendFileSync(log, line(200).repeat(8) + line(500)), 100);
    await until(isOver(world), 'the watch does not end').finally(() => clearInterval(timer));
    reasons.push(String(watched(world)?.reason));
  }
  // What is written between the way back and the end of the timer is of the version before.
  for (const reason of reasons) assert.match(reason, /^requests: 5xx 0\.\d % → \d+\.\d % of \d+$/);
});

test('deploy --check says what a watch costs in memory, and what it cannot look at', async ({
  world,
}) => {
  await world.ship('v1', 'good', TRAFFIC);
  const checked = async (watch: string) => {
    const deploy = trafficFile(`${TRAFFIC}watch: ${watch}\n`);
    await world.push('v2', { deploy, files: trafficFiles('v2') });
    const { stdout } = await world.runner('deploy', 'shop', '--check', '--json');
    return JSON.parse(stdout.trim().split('\n').at(-1) as string);
  };
  const socket = '{ socket: /nowhere/admin.sock, backend: shop }';
  const { steps, warnings } = await checked(`{ for: 5m, run: ./nosuch, haproxy: ${socket} }`);
  assert.match(
    steps.join('\n'),
    /the previous version runs until then, in \d+(?:\.\d)? MiB of memory/,
  );
  assert.equal(warnings, [
    'watch: /nowhere/admin.sock does not say anything of shop: its requests will not be judged',
    'watch: the commit has no file nosuch, which run names',
  ]);
  const log = join(world.root, '..', 'access.log');
  writeFileSync(log, line(200));
  assert.equal((await checked(`{ for: 20s, access_log: "${log}" }`)).warnings, [
    'watch: 20 s are too short for the time to answer: from 35 s on it is judged',
  ]);
  const slow = '{ url: "http://127.0.0.1:9090", expr: "x" }';
  assert.equal((await checked(`{ for: 30s, query: ${slow} }`)).warnings, [
    'watch: 30 s are too short to call a release good by its query, looked at every 15 s: from 1 m 05 s on it can be',
  ]);
  await shipWatched(world, '5m');
  const shown = await world.runner('watch', 'shop', '--proxy', 'nginx');
  assert.match(shown.stderr, /what is active of 'shop' has no canary/);
});

test('the variables of nginx are none of its captures, also for an app whose name begins with a digit', async ({
  world,
}) => {
  const named = ['acme/shop', '--branch', 'main', '--token-from', 'shop', '--name', '3d-shop'];
  assert.is((await world.runner('add', ...named)).status, 0);
  const { stdout } = await world.runner('watch', '3d-shop', '--proxy', 'nginx');
  assert.match(stdout, '/apps/3d-shop/instances/default/$_3d_shop_to/app.sock');
  assert.not.match(stdout, /\$[0-9]/);
});

test('a watch that is followed is not judged if its app is removed', async ({ world }) => {
  await shipWatched(world, '5m');
  const shown = start('runner-watch', ['shop'], { root: world.root });
  for await (const line of shown.stdout) if (line.startsWith('shop v2 is watched')) break;
  assert.is((await world.runner('remove', 'shop', '--yes')).status, 0);
  const { status, stdout, stderr } = await shown.done;
  assert.equal([status, stderr], [3, '']);
  assert.match(stdout, /Not judged: shop v2: ended early by a removal\n$/);
});

test('whatever changes the app ends its watch, and says so in the log', async ({ world }) => {
  await shipWatched(world, '5m');
  for (const [verb, args] of [
    ['restart', ['shop']],
    ['rollback', ['shop']],
  ] as const) {
    if (!world.state().watch) await world.ship('v3', 'good', `${TRAFFIC}watch: 5m\n`);
    assert.ok(world.state().watch);
    const status = (await world.runner('status', 'shop')).stdout;
    assert.match(status, /slot [ab] is kept warm while the release is watched/);
    const done = await world.runner(verb, ...args);
    assert.is(done.status, 0, done.stderr);
    assert.is(world.state().watch, null);
    assert.is(watched(world)?.reason, `ended early by a ${verb}`);
    await until(() => runningSlots(world).length === 1, 'two versions run');
    const shown = await world.runner('watch', 'shop');
    assert.equal([shown.status, shown.stdout.split(':')[0]], [3, 'Not judged']);
  }
  const ended = world.kinds().filter((kind) => kind === 'WatchEnded');
  assert.is(ended.length, 2);
});

test('a watcher that was killed is replaced by the next fetch, which finishes what it began', async ({
  world,
}) => {
  const log = join(world.root, '..', 'access.log');
  writeFileSync(log, line(200).repeat(500));
  await shipWatched(world, `{ for: 5m, access_log: "${log}" }`);
  await until(() => watcher(world) > 0, 'no watcher');
  const first = watcher(world);
  process.kill(first, 'SIGTERM');
  await until(() => !existsSync(`/proc/${first}`), 'it ignores SIGTERM');
  await world.runner('fetch', '--deploy');
  await until(() => watcher(world) !== first, 'no other watcher');
  await until(() => existsSync(join(world.root, 'apps/shop/watch.json')), 'it shows nothing');
  process.kill(watcher(world), 'SIGKILL');
  const lost =
    "the process that watched v2 of 'shop' has ended: runner fetch --deploy shop starts it again";
  const shown = await world.runner('watch', 'shop');
  assert.equal([shown.status, shown.stdout.split('\n').at(-2)], [3, `Not watched: ${lost}`]);
  const status = JSON.parse((await world.runner('status', 'shop', '--json')).stdout);
  assert.is(status.watcher, false);
  appendFileSync(log, (line(200).repeat(5) + line(500)).repeat(100));
  assert.ok(world.state().watch);
  await world.runner('fetch', '--deploy');
  const timer = setInterval(() => appendFileSync(log, line(500)), 100);
  await until(isOver(world), 'the watch does not end').finally(() => clearInterval(timer));
  const { current } = world.instance() as { current: { version: string } };
  assert.equal([current.version, watched(world)?.verdict], ['v1', 'bad']);
  assert.is(world.kinds().filter((kind) => kind === 'WatchFailed').length, 1);
});

test('a release that is watched is started after a reboot before it is judged', async ({
  world,
}) => {
  await shipWatched(world, '15s');
  await until(() => existsSync(join(world.root, 'apps/shop/watch.json')), 'no watcher');
  process.kill(watcher(world), 'SIGKILL');
  killApp(world.root, 'shop');
  const path = join(world.root, 'state/shop.json');
  const boot = /"boot_id": ?"[^"]+"/g;
  writeFileSync(path, readFileSync(path, 'utf8').replace(boot, '"boot_id":"0"'));
  const fetched = await world.runner('fetch', '--deploy');
  assert.match(fetched.stderr, 'shop: default was started after a reboot\n');
  await until(isOver(world), 'the watch does not end');
  assert.is(watched(world)?.verdict, 'good', watched(world)?.reason);
  const { current } = world.instance() as { current: { version: string } };
  assert.is(current.version, 'v2');
});

test('a watch goes on after a reboot, also if its time is over, and its way back starts the version before', async ({
  world,
}) => {
  const log = join(world.root, '..', 'access.log');
  writeFileSync(log, line(200).repeat(500));
  await shipWatched(world, `{ for: 5m, access_log: "${log}" }`);
  await until(() => existsSync(join(world.root, 'apps/shop/watch.json')), 'no watcher');
  process.kill(watcher(world), 'SIGKILL');
  for (const slot of ['a', 'b'])
    process.kill(-Number(runningPid(join(world.dir, 'run', slot))), 'SIGKILL');
  const path = join(world.root, 'state/shop.json');
  const { watch, ...state } = world.state() as { watch: { since: string; until: string } };
  const [since, over] = [3_600_000, 10_000].map((ago) => new Date(Date.now() - ago).toISOString());
  const off = JSON.stringify({ ...state, watch: { ...watch, since, until: over } });
  writeFileSync(path, off.replace(/"boot_id":"[^"]+"/g, '"boot_id":"0"'));
  const booted = await world.runner('start', '--boot');
  assert.is(booted.status, 0, booted.stderr);
  assert.equal([(await request(world.proxy.port)).version, runningSlots(world).length], ['v2', 1]);
  const { until: end } = world.state().watch as { until: string };
  assert.ok(Math.abs(Date.parse(end) - Date.now() - 60_000) < 20_000, end);
  const timer = setInterval(() => appendFileSync(log, line(500).repeat(20)), 100);
  await until(isOver(world), 'the watch does not end').finally(() => clearInterval(timer));
  await until(() => !world.state().deploying, 'the way back does not end');
  assert.equal([watched(world)?.verdict, world.kinds().includes('WatchEnded')], ['bad', false]);
  assert.is((await request(world.proxy.port)).version, 'v1');
});

test('a release that ends because the server shuts down is not bad, and is judged after the boot', async ({
  world,
}) => {
  const state = join(temporaryFolder('systemd'), 'state');
  const isRunning = `test "$1" = is-system-running || exit 1; cat ${state}; exit 1`;
  const { env } = recording(['systemctl'], isRunning);
  await world.ship('v1', 'good', TRAFFIC);
  await world.push('v2', {
    deploy: trafficFile(`${TRAFFIC}watch: 5m\n`),
    files: trafficFiles('v2', 'good'),
  });
  writeFileSync(state, 'stopping\n');
  assert.is((await world.deploy([], env)).status, 0);
  const shown = join(world.root, 'apps/shop/watch.json');
  const isBad = () => existsSync(shown) && /"finding":"bad"/.test(readFileSync(shown, 'utf8'));
  process.kill(-Number(runningPid(join(world.dir, 'run/b'))), 'SIGKILL');
  await until(isBad, 'its end is not seen');
  // Its bus is closed before the server is down.
  writeFileSync(state, '');
  await setTimeout(1_000);
  assert.is(recordOf(world, 'WatchFailed'), undefined);
  writeFileSync(state, 'degraded\n');
  await until(isOver(world), 'the watch does not end');
  assert.is(watched(world)?.verdict, 'bad');
});

test('where systemd never answers, a bad release is left at once', async ({ world }) => {
  const { env } = recording(['systemctl'], 'exit 1');
  await world.ship('v1', 'good', TRAFFIC);
  await world.push('v2', {
    deploy: trafficFile(`${TRAFFIC}watch: 5m\n`),
    files: trafficFiles('v2', 'good'),
  });
  assert.is((await world.deploy([], env)).status, 0);
  process.kill(-Number(runningPid(join(world.dir, 'run/b'))), 'SIGKILL');
  await until(isOver(world), 'the watch does not end');
  assert.is(watched(world)?.verdict, 'bad');
});

test('a release that follows at once is watched by the watcher of the one before', async ({
  world,
}) => {
  await shipWatched(world, '5m');
  const done = await world.ship('v3', 'good', `${TRAFFIC}watch: 5m\n`);
  assert.is(done.status, 0, done.stderr);
  assert.match(done.stderr, 'the release is being watched: runner watch shop');
  const ended = recordOf(world, 'WatchEnded');
  assert.equal([ended?.version, ended?.reason], ['v2', 'ended early by a deploy']);
  assert.equal([ended?.subject, ended?.author], [undefined, undefined]);
  const file = join(world.root, 'apps/shop/watch.json');
  const version = () => (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
  await until(() => version() === 'v3', 'v3 is not watched');
  assert.is((await world.runner('remove', 'shop', '--yes')).status, 0);
  const last = world.events().findLast(({ event_type: kind }) => kind === 'WatchEnded');
  assert.equal([last?.version, last?.reason], ['v3', 'ended early by a removal']);
});

test.run();
