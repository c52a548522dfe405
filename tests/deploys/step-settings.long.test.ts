/** Time limits of hooks and stops, and what of the operator's session reaches a step. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { deployFile, type World, worldSuite } from './world.ts';

const test = worldSuite('settings of steps');

const current = (world: World, name: string) =>
  join(world.root, 'apps/shop/instances/default/current', name);

test('hooks.timeout is the time limit of each hook', async ({ world }) => {
  await world.push('v1', { deploy: 'hooks: { timeout: 1s, pre_switch: sleep 300 }\n' });
  const done = await world.deploy();
  assert.is(done.status, 1);
  assert.match(String(world.events().at(-1)?.error), /^hook: `sleep 300` ran out of time \(1 s\)/);
});

test('a build that prints without end reaches its time limit', async ({ world }) => {
  const run = `yes ${'long '.repeat(200)}`;
  await world.push('v1', { deploy: `build: { run: "${run}", timeout: 1s }\n` });
  const done = await world.deploy();
  assert.is(done.status, 1);
  assert.match(
    String(world.events().at(-1)?.error),
    /^build: `yes long .*` ran out of time \(1 s\)/,
  );
});

test('a build that makes a hole in its output ends like any other', async ({ world }) => {
  const holes = 'echo first; truncate -s 300G /proc/self/fd/1; echo last';
  await world.launch('v1', { deploy: `build: '${holes}'\n` });
  const { deploy_id: id } = world.events().at(-1) ?? {};
  const log = readFileSync(join(world.root, `logs/deploys/shop/${id}.log`), 'utf8');
  assert.match(log, /\d+ bytes left out …/);
  assert.match(log, /last\n/);
});

test('output is still logged after `tee /dev/stderr` truncates the log', async ({ world }) => {
  await world.push('v1', { deploy: `build: 'seq 1000; sleep 0.3; echo both | tee /dev/stderr'\n` });
  const done = await world.deploy(['-v']);
  assert.is(done.status, 0, done.stderr);
  assert.match(done.stdout + done.stderr, /\n1000\n(.*\n)*both\n/);
});

test('start.stop_timeout is how long an app has to end', async ({ world }) => {
  const stubborn = deployFile(world.port)
    .replace('exec node server.js', "trap '' TERM; while :; do node server.js; sleep 1; done")
    .replace('type: process', 'type: process, stop_timeout: 200ms');
  await world.launch('v1', { deploy: stubborn });
  const done = await world.launch('v2');
  assert.is(await world.page(), 'v2');
  assert.ok(done.ms < 9_000, `${done.ms} ms`);
});

test('start.stop_timeout is the time limit of stop', async ({ world }) => {
  const start = 'start: { type: command, run: "true", stop_timeout: 1s }\nstop: sleep 300\n';
  await world.launch('v1', { deploy: start });
  await world.push('v2', { deploy: '{}\n' });
  const done = await world.deploy();
  assert.match(done.stdout + done.stderr, /`sleep 300` ran out of time \(1 s\)/);
});

test("umask, TZ and LANG of the operator's session do not reach the app", async ({ world }) => {
  await world.push('v1', {
    deploy: `instances: { default: { env: { LC_TIME: de_DE.UTF-8 } } }
build: 'echo "$TZ,$LC_ALL,$LC_TIME,$LANG" > made; mkdir folder'
`,
  });
  const before = process.umask(0o077);
  const done = await world
    .deploy([], { TZ: 'Asia/Tokyo', LANG: 'xx_YY', LC_ALL: 'xx_YY' })
    .finally(() => process.umask(before));
  assert.is(done.status, 0, done.stderr);
  assert.match(readFileSync(current(world, 'made'), 'utf8'), /^,,de_DE\.UTF-8,(?!xx)\S+\n$/);
  const modes = ['VERSION', 'made', 'folder'].map(
    (name) => statSync(current(world, name)).mode & 0o777,
  );
  assert.equal(modes, [0o644, 0o644, 0o755]);
});

test('start, stop and health commands get the id of their deploy', async ({ world }) => {
  const trace = join(world.root, 'trace');
  const say = (what: string) =>
    `echo ${what} $RUNNER_APP $RUNNER_INSTANCE $RUNNER_DEPLOY_ID >> '${trace}'`;
  await world.launch('v1', {
    deploy: `start: { type: command, run: "${say('start')}" }
stop: "${say('stop')}"
health: { cmd: "${say('health')}" }
`,
  });
  const first = String(world.events()[0]?.deploy_id);
  await world.launch('v2', { deploy: '{}\n' });
  const second = String(world.events().at(-1)?.deploy_id);
  assert.ok(existsSync(trace));
  assert.is(
    readFileSync(trace, 'utf8'),
    `start shop default ${first}\nhealth shop default ${first}\nstop shop default ${second}\n`,
  );
});

test.run();
