/** What meets traffic: a restart, an app that an operator stopped, and versions without traffic. */
import {
  appendFileSync,
  existsSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { freePort, killApp } from '@runner/testing/app';
import { startDiscord } from '@runner/testing/discord';
import { start } from '@runner/testing/run';
import { type Manner, trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import { request, startLoad, startProxy } from '@runner/testing/traffic-proxy';

import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { deployFile, impatient, suiteOf } from '../deploys/world.ts';
import { versionAt } from './seams.ts';
import { makeTrafficWorld, runningSlots, type TrafficWorld } from './world.ts';

const test = suiteOf('seams of traffic', makeTrafficWorld);

function pidInSlot(world: TrafficWorld, slot: string | null): number {
  const file = join(world.dir, 'run', String(slot), 'pid.json');
  return JSON.parse(readFileSync(file, 'utf8')).pid;
}

const livePid = (world: TrafficWorld) => pidInSlot(world, world.live());

test('each restart serves from a new process, loses no request, and leaves nothing behind', async ({
  world,
}) => {
  await world.ship('v0');
  const pids = [livePid(world)];
  const load = startLoad(world.proxy.port);
  for (let round = 0; round < 3; round += 1) {
    const done = await world.runner('restart', 'shop');
    assert.is(done.status, 0, done.stderr);
    assert.match(done.stdout, /^Restarted shop v0 \(default\)\n$/);
    pids.push(livePid(world));
    assert.equal(runningSlots(world), [world.live()]);
    assert.is(world.instance().draining, null);
  }
  assert.is(new Set(pids).size, 4, String(pids));
  assert.equal((await load.end()).failed, []);
});

test('a restart that was killed leaves one process, which gets the requests', async ({ world }) => {
  await world.ship('v0');
  const load = startLoad(world.proxy.port);
  const value = join(world.root, 'value');
  for (const stage of ['start', 'health', 'traffic']) {
    const before = livePid(world);
    writeFileSync(value, `the-value-of-${stage}`);
    await world.runner('env', 'set', 'shop', 'KEY', '--file', value);
    const restart = start('runner-restart', ['shop'], { root: world.root });
    const stageNow = () => (world.state().deploying as { stage: string } | null)?.stage;
    let isOver = false;
    void restart.done.then(() => (isOver = true));
    await until(() => stageNow() === stage || isOver, `no stage ${stage}`);
    process.kill(restart.pid, 'SIGKILL');
    await restart.done;
    const next = await world.runner('fetch', 'shop', '--deploy');
    assert.is(next.status, 0, next.stderr);
    const started = await world.runner('start', 'shop');
    assert.is(started.status, 0, started.stderr);
    assert.is(world.state().deploying, null);
    assert.is((await request(world.proxy.port)).version, 'v0');
    await until(() => runningSlots(world).length === 1, 'two processes');
    assert.is.not(livePid(world), before, stage);
    const environment = readFileSync(`/proc/${livePid(world)}/environ`, 'utf8');
    assert.match(environment, `the-value-of-${stage}`);
    assert.not.match((await world.runner('env', 'list', 'shop')).stdout, 'not applied yet');
    assert.is(world.kinds().at(-1), 'AppRestarted');
  }
  assert.equal((await load.end()).failed, []);
});

test('a rollback to what still runs without traffic links current to it', async ({ world }) => {
  await world.launch('v0', { deploy: deployFile(world.port), files: trafficFiles('v0') });
  assert.is((await world.ship('v1')).status, 0);
  const done = await world.runner('rollback', 'shop', '--force');
  assert.is(done.status, 0, done.stderr);
  assert.is(world.live(), null);
  assert.ok(existsSync(join(world.dir, 'current')), readlinkSync(join(world.dir, 'current')));
  assert.is(readFileSync(join(world.dir, 'current/VERSION'), 'utf8').trim(), 'v0');
  assert.is(await versionAt(world.port), 'v0');
});

test('a failing version without traffic leaves both serving versions alone', async ({ world }) => {
  await world.push('v0', { deploy: deployFile(world.port), files: trafficFiles('v0') });
  await world.deploy();
  await world.ship('v1');
  const before = livePid(world);
  const load = startLoad(world.proxy.port);
  for (const manner of ['unhealthy', 'crashing'] as const) {
    const files = trafficFiles(`v2-${manner}`, manner);
    await world.push(`v2-${manner}`, { deploy: impatient(world.port), files });
    const failed = await world.deploy();
    assert.is(failed.status, 1);
    assert.is(await versionAt(world.port), 'v0');
    assert.is(livePid(world), before);
    assert.is(readlinkSync(join(world.dir, 'current')), 'live/current');
  }
  assert.equal((await load.end()).failed, []);
  const stopped = await world.runner('stop', 'shop', '--before-traffic');
  assert.match(stopped.stdout, /^Stopped v0 of default/);
});

test('a boot also starts what ran before the app had traffic, for a proxy that still asks it', async ({
  world,
}) => {
  await world.push('v0', { deploy: deployFile(world.port), files: trafficFiles('v0') });
  await world.deploy();
  await world.ship('v1');
  killApp(world.root, 'shop');
  await until(async () => (await versionAt(world.port)) === '', 'v0 goes on');
  const booted = await world.runner('start', '--boot');
  assert.is(booted.status, 0, booted.stderr);
  await until(async () => (await versionAt(world.port)) === 'v0', 'v0 is not started');
  assert.is((await request(world.proxy.port)).version, 'v1');
  const stopped = await world.runner('stop', 'shop', '--before-traffic');
  assert.match(stopped.stdout, /^Stopped v0 of default/);
  assert.is((await world.runner('start', '--boot')).status, 0);
  assert.is(await versionAt(world.port), '');
});

test('an app that an operator stopped stays stopped after a deploy that fails', async ({
  world,
}) => {
  const { port } = world;
  await world.push('v0', { deploy: deployFile(port), files: trafficFiles('v0') });
  await world.deploy();
  await world.runner('stop', 'shop', '--reason', 'moving the database');
  await world.push('v1', { deploy: impatient(port), files: trafficFiles('v1', 'unhealthy') });
  assert.is((await world.deploy()).status, 1);
  assert.is(await versionAt(port), '');
  assert.is(readFileSync(join(world.dir, 'current/VERSION'), 'utf8').trim(), 'v0');
  assert.equal((world.state().stopped as { instances: string[] }).instances, ['default']);
  assert.match((await world.runner('list')).stdout, / stopped /);
  const started = await world.runner('start', 'shop');
  assert.is(started.status, 0, started.stderr);
  assert.is(await versionAt(port), 'v0');
  assert.match((await world.runner('list')).stdout, / failing /);
});

test('a version that dies while the one before drains gives the requests back, and has failed', async ({
  world,
}) => {
  const file = 'traffic: { type: socket, drain: 20s }\n';
  await world.ship('v0', 'good', file);
  const serving = livePid(world);
  void request(world.proxy.port, '/stream');
  await world.push('v1', { deploy: trafficFile(file), files: trafficFiles('v1', 'fading') });
  const failed = await world.deploy(['--json']);
  assert.is(failed.status, 1, failed.stderr);
  const outcome = JSON.parse(failed.stdout.trim().split('\n').at(-1) ?? '');
  assert.equal(
    [outcome.result, outcome.stage, outcome.active_version],
    ['rolled_back', 'drain', 'v0'],
  );
  assert.match(outcome.error, /^drain: v1 of default ended while it got the requests$/);
  assert.is((await request(world.proxy.port)).version, 'v0');
  assert.is(livePid(world), serving);
  assert.equal(world.kinds().slice(-3), ['DeploySuccess', 'DeployFailure', 'RollbackSuccess']);
  assert.is((await world.runner('audit', 'verify')).status, 0);
  assert.match((await world.runner('list')).stdout, /failing/);
  assert.match((await world.runner('history', 'shop', '-n', '1')).stdout, /rolled_back/);
  const again = await world.ship('v2', 'good', file);
  assert.is(again.status, 0, again.stderr);
});

test('also one of the same commit, or with keep: 1, gives them back to a version that is kept no more', async ({
  world,
}) => {
  const bad = join(world.root, 'bad');
  const server = String(trafficFiles('v0')['server.js']).replace(
    "manner === 'fading'",
    `require('node:fs').existsSync('${bad}')`,
  );
  const deploy = trafficFile('keep: 1\ntraffic: { type: socket, drain: 20s }\n');
  await world.push('v0', { deploy, files: { ...trafficFiles('v0'), 'server.js': server } });
  await world.deploy();
  const [serving, { current }] = [livePid(world), world.instance()];
  void request(world.proxy.port, '/stream');
  writeFileSync(bad, '');
  for (const version of ['v0', 'v1']) {
    if (version === 'v1')
      await world.push('v1', { deploy, files: { ...trafficFiles('v1'), 'server.js': server } });
    const failed = await world.deploy();
    assert.match(failed.stdout, `Failed shop ${version} at drain`, failed.stderr);
    assert.equal([livePid(world), world.instance().current], [serving, current]);
    assert.equal(world.kinds().slice(-3), ['DeploySuccess', 'DeployFailure', 'RollbackSuccess']);
  }
  assert.match((await world.runner('list')).stdout, /^shop +failing +default +v0 /m);
});

test('a restart whose process dies in the drain has failed: no record of it, and its secrets are not applied', async ({
  world,
}) => {
  const [a, b] = [await freePort(), await freePort()];
  const ports = trafficFile(`traffic: { type: ports, ports: [${a}, ${b}], drain: 10s }\n`);
  const files = trafficFiles('v0');
  const jobs = 'jobs: { tidy: { run: "true", every: 24h, during_deploy: kill } }\n';
  for (const deploy of [trafficFile(`traffic: { type: socket, drain: 10s }\n${jobs}`), ports]) {
    await world.launch('v0', { deploy, files });
    const serving = livePid(world);
    const manner = (text: string) => writeFileSync(join(world.dir, 'current/MANNER'), text);
    const port = deploy === ports ? (world.live() === 'a' ? a : b) : world.proxy.port;
    const stream = request(port, '/stream');
    const value = join(world.root, 'value');
    const restarts = () => world.kinds().filter((kind) => kind === 'AppRestarted').length;
    const before = restarts();
    writeFileSync(value, `${port}-value-0001`);
    manner('fading\n');
    const set = await world.runner('env', 'set', 'shop', 'KEY', '--file', value, '--restart');
    assert.is(set.status, 1, set.stderr);
    assert.match(set.stderr, 'v0 gets them again');
    assert.is(livePid(world), serving);
    assert.match((await world.runner('env', 'list', 'shop')).stdout, 'not applied yet');
    assert.is(restarts(), before);
    assert.is(world.state().deploying, null);
    manner('good\n');
    const restarted = await world.runner('restart', 'shop');
    assert.is(restarted.status, 0, restarted.stderr);
    assert.not.match((await world.runner('env', 'list', 'shop')).stdout, 'not applied yet');
    assert.is(world.kinds().at(-1), 'AppRestarted');
    void stream;
  }
  assert.is((await world.runner('audit', 'verify')).status, 0);
});

test('a restart that is killed in the drain is recorded by the next command', async ({ world }) => {
  await world.ship('v0', 'good', 'traffic: { type: socket, drain: 60s }\n');
  const stream = request(world.proxy.port, '/stream');
  const restart = start('runner-restart', ['shop'], { root: world.root });
  await until(() => world.instance().draining != null, 'no drain');
  await until(() => world.state().deploying === null, 'not recorded');
  process.kill(restart.pid, 'SIGKILL');
  await restart.done;
  const stopped = await world.runner('stop', 'shop');
  assert.is(stopped.status, 0, stopped.stderr);
  const [restarted, stop] = world.events().slice(-2);
  assert.equal([restarted?.event_type, stop?.event_type], ['AppRestarted', 'AppStopped']);
  void stream;
});

test('of two instances of which one dies in the drain, the outcome says which went back', async ({
  world,
}) => {
  const file = trafficFile('instances: { a: {}, b: {} }\ntraffic: { type: socket, drain: 20s }\n');
  // Only in b.
  const files = (version: string, manner: Manner) => {
    const made = trafficFiles(version, manner);
    const server = String(made['server.js']).replace(
      "if (manner === 'fading')",
      "if (manner === 'fading' && process.env.RUNNER_INSTANCE === 'b')",
    );
    return { ...made, 'server.js': server };
  };
  await world.launch('v0', { deploy: file, files: files('v0', 'good') });
  const socketPath = join(world.root, 'apps/shop/instances/b/live/app.sock');
  const proxy = await startProxy(() => ({ socketPath }));
  void request(proxy.port, '/stream');
  await world.push('v1', { deploy: file, files: files('v1', 'fading') });
  const failed = await world.deploy();
  assert.is(failed.status, 1, failed.stderr);
  assert.match(
    failed.stdout,
    /^Failed shop v1 at drain \[.*\]\. Rolled back b\. v0 is active on b, v1 on a\.\n$/,
  );
  assert.match(failed.stderr, 'drain: v1 of b ended while it got the requests');
  const { instances } = world.state() as Record<
    'instances',
    Record<string, { current: { version: string } }>
  >;
  assert.equal([instances.a?.current.version, instances.b?.current.version], ['v1', 'v0']);
  proxy.close();
});

test('a start that fails leaves a stopped app stopped, and the next one starts it', async ({
  world,
}) => {
  const bad = join(world.root, 'bad');
  const more = `traffic: { type: socket, drain: 1s }\n`;
  const server = trafficFiles('v0')['server.js'] as string;
  const touchy = server.replace(
    "manner === 'unhealthy'",
    `require('node:fs').existsSync('${bad}')`,
  );
  const deploy = trafficFile(more).replace('20s', '800ms');
  await world.launch('v0', { deploy, files: { ...trafficFiles('v0'), 'server.js': touchy } });
  assert.is((await world.runner('stop', 'shop')).status, 0);
  writeFileSync(bad, '');
  for (const verb of ['start', 'restart']) {
    const failed = await world.runner(verb, 'shop');
    assert.is(failed.status, 1, failed.stderr);
    assert.equal(runningSlots(world), [], verb);
    assert.equal((world.state().stopped as { instances: string[] }).instances, ['default']);
  }
  rmSync(bad);
  const status = await world.runner('status', 'shop');
  assert.not.match(status.stdout, 'requests go to slot');
  for (const [version, more] of [
    ['v1', 'build: "false"\n'],
    ['v2', 'nonsense: 1\n'],
    ['v3', ''],
  ] as const) {
    const manner = version === 'v3' ? 'unhealthy' : 'good';
    await world.push(version, { deploy: `${deploy}${more}`, files: trafficFiles(version, manner) });
    const failed = await world.deploy();
    assert.is(failed.status, 1);
    assert.not.match(failed.stdout + failed.stderr, /[Rr]oll(?:ed)? back|keeps serving/);
    assert.is(world.events().at(-1)?.event_type, 'DeployFailure');
    assert.is(world.events().at(-1)?.rolled_back, undefined);
    assert.match((await world.runner('history', 'shop', '-n', '1')).stdout, ' failed ');
  }
  const started = await world.runner('start', 'shop');
  assert.match(started.stdout, /^Started shop v0/);
  assert.is((await request(world.proxy.port)).version, 'v0');
  assert.equal(runningSlots(world), [world.live()]);
});

test('what gets the requests is looked at before the version before it is ended', async ({
  world,
}) => {
  const file = 'notify: {}\ntraffic: { type: socket, drain: 20s }\n';
  await world.ship('v0', 'good', file);
  const chat = await startDiscord();
  const config = `notify: { discord_webhook: "${chat.webhook}" }\n`;
  appendFileSync(join(world.root, 'config.yml'), config);
  const stream = request(world.proxy.port, '/stream');
  await world.push('v1', { deploy: trafficFile(file), files: trafficFiles('v1', 'fading') });
  const deploying = start('runner-deploy', ['shop'], { root: world.root });
  await until(() => world.instance().draining != null, 'no drain');
  await until(() => world.state().deploying === null, 'not recorded');
  process.kill(deploying.pid, 'SIGKILL');
  await deploying.done;
  await until(() => runningSlots(world).length === 1, 'v1 has not died');
  // The commit would fail once more.
  await world.runner('pause', 'shop');
  const next = await world.runner('fetch', 'shop', '--deploy');
  assert.match(next.stderr, 'v0 gets them again');
  assert.is((await request(world.proxy.port)).version, 'v0');
  const { current } = world.instance() as { current: { version: string } };
  assert.is(current.version, 'v0');
  assert.equal(world.kinds().slice(-2), ['DeployFailure', 'RollbackSuccess']);
  assert.match(JSON.stringify(chat.messages.at(-1)), 'while it got the requests');
  assert.is((await world.runner('audit', 'verify')).status, 0);
  await chat.close();
  void stream;
});

test('an app that lost its socket is down, and a restart serves again', async ({ world }) => {
  await world.ship('v0');
  rmSync(join(world.dir, String(world.live()), 'app.sock'));
  const listed = await world.runner('list');
  assert.match(listed.stdout, /^shop +down .* v0 /m);
  const checked = await world.runner('status', '--check');
  assert.equal(
    [checked.status, checked.stdout],
    [1, 'shop: down: not restarted automatically; run: runner restart shop\n'],
  );
  assert.is((await world.runner('restart', 'shop')).status, 0);
  assert.is(await versionAt(world.proxy.port), 'v0');
  assert.is((await world.runner('status', '--check')).status, 0);
});

test.run();
