import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runningPid } from '@runner/common/files/process';
import { freePort } from '@runner/testing/app';
import { start } from '@runner/testing/run';
import { trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import { type ProxyResponse, request, startLoad, startProxy } from '@runner/testing/traffic-proxy';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { deployFile, suiteOf } from '../deploys/world.ts';
import { makeTrafficWorld, runningSlots } from './world.ts';

const test = suiteOf('ports, a command, workers, and apps without traffic', makeTrafficWorld);

const version = (port: number): Promise<string> =>
  request(port).then((got: ProxyResponse) => got.version);

test('with ports, the flag file in live names the port of the version that is live', async ({
  world,
}) => {
  const ports = [await freePort(), await freePort()];
  const flag = () => ports.find((port) => existsSync(join(world.dir, 'live', String(port)))) ?? 0;
  const proxy = await startProxy(() => ({ port: flag() }));
  const more = `traffic: { type: ports, ports: [${ports.join(', ')}], drain: 2s }\n`;
  assert.is((await world.ship('v0', 'good', more)).status, 0);
  const load = startLoad(proxy.port);
  assert.is((await world.ship('v1', 'good', more)).status, 0);
  const deaf = await world.ship('v2', 'deaf', more);
  assert.match(
    deaf.stderr,
    /health: default: the app did not open \d+ within 0.6 s: does it listen on PORT\? It opened port \d+; v1 keeps serving, nothing was switched/,
  );
  const { failed, versions } = await load.end();
  assert.equal(failed, []);
  assert.equal(versions, ['v0', 'v1']);
  proxy.close();
});

test('with overlap: false each version takes over the one port that is used', async ({ world }) => {
  const ports = [await freePort(), await freePort()];
  const more = `traffic: { type: ports, ports: [${ports.join(', ')}], overlap: false }\n`;
  const shown = async () => (await version(ports[0] as number)).trim();
  for (const name of ['v0', 'v1']) {
    const { status, stderr } = await world.ship(name, 'good', more);
    assert.is(status, 0, stderr);
    assert.is(await shown(), name);
  }
  assert.is((await world.ship('v2', 'deaf', more)).status, 1);
  assert.is(await shown(), 'v1');
  for (const verb of ['restart', 'stop', 'start', 'rollback']) {
    const { status, stdout, stderr } = await world.runner(verb, 'shop');
    assert.is(status, 0, stdout + stderr);
  }
  assert.equal(runningSlots(world), ['a']);
});

test('with overlap: false a killed deploy or restart does not take what ran before for its own', async ({
  world,
}) => {
  const ports = [await freePort(), await freePort()];
  const more = `traffic: { type: ports, ports: [${ports.join(', ')}], overlap: false }\n`;
  const push = (name: string) => {
    const files = trafficFiles(name);
    const stubborn = `process.on('SIGTERM', () => {});\n${files['server.js']}`;
    return world.push(name, {
      deploy: trafficFile(more),
      files: { ...files, 'server.js': stubborn },
    });
  };
  const killed = async (verb: string) => {
    const running = start(`runner-${verb}`, ['shop'], { root: world.root });
    const isStarting = () => {
      const { stage, touched } = (world.state().deploying ?? {}) as Record<string, unknown>;
      return stage === 'start' && touched !== undefined;
    };
    await until(isStarting, `no start by ${verb}`);
    process.kill(running.pid, 'SIGKILL');
    await running.done;
    return world.runner('fetch', 'shop', '--deploy');
  };
  const pid = () => runningPid(join(world.dir, 'run/a'));
  await push('v0');
  assert.is((await world.deploy()).status, 0);
  const first = pid();
  await killed('restart');
  assert.is.not(pid(), first);
  await push('v1');
  await killed('deploy');
  const ends = world
    .kinds()
    .slice(3)
    .filter((kind) => kind !== 'RollbackSuccess');
  assert.equal(ends, ['DeployStarted', 'DeployFailure', 'DeployStarted', 'DeploySuccess']);
  assert.is(await version(ports[0] as number), 'v1');
});

test('a named pipe that the app puts in place of the flag file is replaced', async ({ world }) => {
  const ports = [await freePort(), await freePort()];
  const more = `traffic: { type: ports, ports: [${ports.join(', ')}], drain: 100ms }\n`;
  for (const name of ['v0', 'v1', 'v2']) {
    const { status, stderr } = await world.ship(name, 'good', more);
    assert.is(status, 0, stderr);
    for (const port of ports) {
      const flag = join(world.dir, 'live', String(port));
      rmSync(flag, { force: true });
      execFileSync('mkfifo', [flag]);
    }
  }
});

test('a command moves the requests; one that fails leaves them where they are', async ({
  world,
}) => {
  const ports = [await freePort(), await freePort()];
  const target = join(world.root, 'target');
  const more = (run: string) =>
    `traffic: { type: command, ports: [${ports.join(', ')}], run: "${run}", drain: 1s }\n`;
  const move = `echo $PORT > ${target}`;
  assert.is((await world.ship('v0', 'good', more(move))).status, 0);
  assert.is((await world.ship('v1', 'good', more(move))).status, 0);
  const failed = await world.ship('v2', 'good', more(`echo 1 > ${target}; exit 1`));
  assert.is(failed.status, 1);
  assert.match(failed.stderr, /ended with status 1; v1 keeps serving, nothing was switched/);
  const port = Number(readFileSync(target, 'utf8'));
  assert.is(await version(port), 'v1');
  assert.equal(runningSlots(world), [world.live()]);
});

test('a deploy that is killed while its command moves the requests loses none', async ({
  world,
}) => {
  const ports = [await freePort(), await freePort()];
  const target = join(world.root, 'target');
  const more = (after: string) =>
    `traffic: { type: command, ports: [${ports.join(', ')}], run: "echo $PORT > ${target}.new; mv ${target}.new ${target}${after}", drain: 5s }\n`;
  assert.is((await world.ship('v0', 'good', more(''))).status, 0);
  const before = readFileSync(target, 'utf8');
  const proxy = await startProxy(() => ({ port: Number(readFileSync(target, 'utf8')) }));
  await world.push('v1', { deploy: trafficFile(more('; sleep 60')), files: trafficFiles('v1') });
  const killed = start('runner-deploy', ['shop'], { root: world.root });
  const load = startLoad(proxy.port);
  await until(() => readFileSync(target, 'utf8') !== before, 'no move');
  process.kill(killed.pid, 'SIGKILL');
  await killed.done;
  const next = await world.runner('restart', 'shop');
  const { failed, versions } = await load.end();
  const active = await version(proxy.port);
  proxy.close();
  assert.match(next.stderr, /was interrupted during (?:switch|traffic): cleaning up/);
  assert.equal(failed, []);
  assert.equal(versions, ['v0', 'v1']);
  assert.is(active, 'v0');
});

test('instances move together, and a worker is restarted after them', async ({ world }) => {
  const port = await freePort();
  const file = (health: string) =>
    `instances: { one: {}, two: {}, worker: { traffic: false, env: { PORT: "${port}" } } }
start: { type: process, run: exec node server.js, stop_timeout: 2s }
health: { cmd: "${health}", interval: 50ms, within: 2s }
traffic: { type: socket, drain: 1s }\n`;
  const push = (name: string, health: string) =>
    world.push(name, { deploy: file(health), files: trafficFiles(name) });
  const ask = (instance: string) =>
    startProxy(() => ({
      socketPath: join(world.root, 'apps/shop/instances', instance, 'live/app.sock'),
    }));
  await push('v0', 'true');
  const first = await world.deploy();
  assert.is(first.status, 0, first.stderr);
  const proxies = [await ask('one'), await ask('two')];
  await push('v1', 'test $RUNNER_INSTANCE != two');
  assert.is((await world.deploy()).status, 1);
  assert.equal(await Promise.all([...proxies.map((each) => version(each.port)), version(port)]), [
    'v0',
    'v0',
    'v0',
  ]);
  await push('v2', 'test $RUNNER_INSTANCE != worker');
  assert.is((await world.deploy()).status, 1);
  assert.equal(await Promise.all([...proxies.map((each) => version(each.port)), version(port)]), [
    'v0',
    'v0',
    'v0',
  ]);
  await push('v3', 'true');
  assert.is((await world.deploy()).status, 0);
  assert.equal(await Promise.all([...proxies.map((each) => version(each.port)), version(port)]), [
    'v3',
    'v3',
    'v3',
  ]);
  for (const each of proxies) each.close();
});

test('the first deploy with traffic leaves what runs without it, until it is stopped', async ({
  world,
}) => {
  const old = deployFile(world.port);
  await world.launch('v0', { deploy: old, files: trafficFiles('v0') });
  const load = startLoad(world.port);
  assert.is((await world.ship('v1')).status, 0);
  const shipped = await world.ship('v2');
  assert.is(shipped.status, 0);
  assert.match(shipped.stderr, /v0 still runs .* then runner stop shop --before-traffic\n/);
  assert.equal((await load.end()).failed, []);
  assert.equal([await version(world.port), await version(world.proxy.port)], ['v0', 'v2']);
  const stopped = await world.runner('stop', 'shop', '--before-traffic');
  assert.is(stopped.stdout, 'Stopped v0 of default, which shop ran before traffic\n');
  assert.is((await request(world.port)).status, 0);
  assert.is(await version(world.proxy.port), 'v2');
  const refused = await world.runner('rollback', 'shop', '--to', 'v0');
  assert.match(
    refused.stderr,
    /v0 of default has no traffic: it listens on port \d+, and the proxy sends requests to .*live\/app.sock; change the proxy, then add --force \(force_needed\)/,
  );
  assert.is((await world.runner('rollback', 'shop', '--to', 'v0', '--force')).status, 0);
  assert.is(await version(world.port), 'v0');
  assert.is(world.live(), null);
  assert.equal(runningSlots(world), []);
});

test.run();
