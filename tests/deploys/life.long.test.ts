/** Start, stop, restart, pause and deploy windows. */
import {
  appendFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { run, shellWord, start } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { fetched, logged, stateOf, type } from './life.ts';
import { worldSuite } from './world.ts';

const test = worldSuite('the life of an app');

test('stopping a stopped app changes and records nothing', async ({ world }) => {
  await world.launch('v1', {
    deploy: 'instances: { default: {}, web: {} }\nstart: { type: process, run: exec sleep 300 }\n',
  });
  const stop = (...args: string[]) => type(world, 'stop', 'shop', ...args);
  assert.is((await stop('--instance', 'default', '--reason', 'moving')).status, 0);
  const { stdout } = await stop();
  assert.is(stdout, 'Stopped already: shop v1 (default)\nStopped shop v1 (web)\n');
  const { stopped } = await stateOf(world);
  assert.equal([stopped.instances, stopped.reason], [['default', 'web'], 'moving']);
  const again = JSON.parse((await stop('--json')).stdout);
  assert.is(again.result, 'unchanged');
  assert.equal((await stateOf(world)).stopped, stopped);
  assert.is(world.kinds().filter((kind) => kind === 'AppStopped').length, 2);
  assert.is((await stop('--reason', 'for good')).status, 0);
  assert.is((await stateOf(world)).stopped.reason, 'for good');
});

test('an interrupted stop or start is remembered, a failed start is not', async ({ world }) => {
  const folder = temporaryFolder('steps');
  const [going, gate, bad] = ['going', 'gate', 'bad'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const step = join(folder, 'step');
  const wait = `touch ${shellWord(going)}; until [ -e ${shellWord(gate)} ]; do sleep 0.05; done`;
  writeFileSync(step, `${wait}; [ ! -e ${shellWord(bad)} ]\n`);
  const line = JSON.stringify(`sh ${shellWord(step)}`);
  writeFileSync(gate, '');
  await world.launch('v1', { deploy: `start: { type: command, run: ${line} }\nstop: ${line}\n` });
  const interrupted = async (tool: string, args: string[], signal: NodeJS.Signals) => {
    for (const file of [gate, going]) rmSync(file);
    const running = start(`runner-${tool}`, ['shop', ...args], { root: world.root });
    await until(() => existsSync(going), 'it began');
    process.kill(running.pid, signal);
    const { stderr } = await running.done;
    if (signal !== 'SIGKILL')
      assert.match(stderr, 'if it had begun, the next runner command for shop finishes it\n');
    writeFileSync(gate, '');
    return (await stateOf(world)).stopped;
  };
  const stopped = await interrupted('stop', ['--reason', 'moving'], 'SIGINT');
  assert.equal([stopped.instances, stopped.reason], [['default'], 'moving']);
  assert.is((await fetched(world)).result, 'up_to_date');
  assert.is(world.kinds().includes('AppDown'), false);
  writeFileSync(bad, '');
  assert.is((await type(world, 'start', 'shop')).status, 1);
  assert.equal((await stateOf(world)).stopped, stopped);
  rmSync(bad);
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    assert.is(await interrupted('start', [], signal), null);
    assert.is((await type(world, 'stop', 'shop')).status, 0);
  }
});

test('a new secret is applied at once with --restart; without the master key an app can be stopped', async ({
  world,
}) => {
  await world.launch('v1');
  const options = { root: world.root, stdin: 'x' };
  const set = await run(
    'runner-env',
    ['set', 'shop', 'MODE', '--file', '-', '--restart', '--json'],
    options,
  );
  assert.is(set.status, 0, set.stderr + set.stdout);
  const { secrets, restart } = JSON.parse(set.stdout);
  assert.equal([secrets[0].applied, restart.result], [true, 'restarted']);
  const key = join(world.root, 'mkey');
  renameSync(key, `${key}.lost`);
  assert.match((await type(world, 'restart', 'shop')).stderr, /\(mkey_missing\)/);
  assert.is((await type(world, 'stop', 'shop')).status, 0);
  assert.is(await world.page(), null);
  assert.match((await type(world, 'start', 'shop')).stderr, /\(mkey_missing\)/);
  renameSync(`${key}.lost`, key);
  const broken = await run(
    'runner-env',
    ['set', 'shop', 'PATH', '--file', '-', '--restart'],
    options,
  );
  assert.match(broken.stdout, /; the restart failed\n$/);
  assert.match(broken.stderr, /: default: start: `exec node server\.js` ended with status 127/);
});

test('a paused app waits for resume; by hand it needs --force, a rollback nothing', async ({
  world,
}) => {
  for (const version of ['v1', 'v2']) {
    await world.launch(version);
  }
  const paused = await type(world, 'pause', 'shop', '--for', '4h', '--reason', 'sale', '--json');
  assert.is(JSON.parse(paused.stdout).paused.reason, 'sale');
  assert.is((await stateOf(world)).state, 'paused');
  await world.push('v3');
  for (let round = 0; round < 2; round += 1) assert.is((await fetched(world)).result, 'paused');
  assert.is(logged(world).length, 1);
  const refused = await world.deploy();
  assert.match(
    refused.stderr,
    /'shop' is paused by .* until .*: sale; deploy it with --force \(paused\)/,
  );
  assert.is((await type(world, 'rollback', 'shop')).status, 0);
  assert.is((await world.deploy(['--force'])).status, 0);
  assert.match((await type(world, 'resume', '--all')).stdout, /^Resumed shop\n$/);
  await world.push('v4');
  assert.is((await fetched(world)).result, 'deployed');
  const long = await type(world, 'pause', 'shop', '--until', '2999-01-01');
  assert.is(long.stdout, 'Paused shop until 2999-01-01 00:00 UTC\n');
  const over = await type(world, 'pause', 'shop', '--until', '2020-01-01');
  assert.match(over.stderr, /must be in the future/);
  for (const length of ['99999999h', '9999999999999h', '0', '1.5h'])
    assert.is((await type(world, 'pause', 'shop', '--for', length)).status, 2, length);
});

test('outside its deploy windows a version waits, and this is reported once', async ({ world }) => {
  await world.launch('v1');
  const today = new Date().toISOString().slice(0, 10);
  appendFileSync(
    join(world.root, 'config.yml'),
    `deploy_windows:\n  - { app: shop, freeze: [${today}..9000-01-01] }\n`,
  );
  await world.push('v2');
  const waits = await fetched(world);
  assert.is(waits.result, 'closed');
  assert.is(waits.text, 'v2 waits until more than a year from now');
  await fetched(world);
  assert.is(logged(world).length, 1);
  assert.is(world.kinds().filter((kind) => kind === 'DeployWaiting').length, 1);
  const { next, windows } = await stateOf(world);
  assert.match(
    next,
    /^the next fetch --deploy deploys commit [0-9a-f]{12}; outside its deploy windows until more than a year from now$/,
  );
  assert.equal(windows, {
    rules: [`freeze ${today}..9000-01-01 UTC`],
    open: false,
    opens_at: null,
    text: 'until more than a year from now',
  });
  await type(world, 'pause', 'shop', '--until', '2999-01-01', '--reason', 'sale');
  const { stdout } = await type(world, 'status', 'shop');
  assert.match(stdout, /default: +v1 since [\d-]+ [\d:]+ UTC by \S+\n/);
  assert.match(
    stdout,
    /paused: +since [\d-]+ [\d:]+ UTC by \S+, until 2999-01-01 00:00:00 UTC\n +sale\n/,
  );
  assert.match(stdout, /windows: +closed until more than a year from now\n +freeze /);
  assert.match(
    stdout,
    /next: +paused [^;]*; sooner: runner resume shop;\s+outside its deploy windows/,
  );
});

test('start --boot starts the apps that a reboot ended', async ({ world }) => {
  await world.launch('v1');
  const pidFile = join(world.root, 'apps/shop/instances/default/run/pid.json');
  process.kill(-JSON.parse(readFileSync(pidFile, 'utf8')).pid, 'SIGKILL');
  const booted = await type(world, 'start', '--boot', '--json');
  assert.is(booted.status, 0, booted.stderr);
  assert.is(JSON.parse(booted.stdout).apps[0].result, 'started');
  assert.is(await world.page(), 'v1');
});

test('start --boot says what it cannot start, and why', async ({ world }) => {
  await world.launch('v1');
  const own = join(world.root, 'apps/shop');
  rmSync(join(own, 'files'), { recursive: true });
  symlinkSync('files', join(own, 'files'));
  const unread = await type(world, 'start', '--boot');
  assert.is(unread.status, 1);
  assert.match(unread.stdout, /^Failed: shop v1 \(default\): .* has no readable \.deploy\.yml/);
});

test.run();
