import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningCommand } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { addParent, askHost, fetch, markPreview, sleepyFiles, startWaker } from './sleep-world.ts';
import { makeTrafficWorld, runningSlots, type TrafficWorld } from './world.ts';

const HOST = 'pr-7.preview.example.org';

const test = suite<{ world: TrafficWorld; waker: RunningCommand }>('sleep');

test.before.each(async (context) => {
  context.world = await makeTrafficWorld();
  const { world } = context;
  await ship(world, 'v0');
  await addParent(world.root);
  markPreview(world.root, 'shop', { sleep_after: '1s' });
  context.waker = await startWaker(world.root);
});
test.after.each(async ({ world, waker }) => {
  waker.kill('SIGTERM');
  await world.close();
});

function ship(world: TrafficWorld, version: string) {
  return world
    .push(version, { files: sleepyFiles(HOST, version) })
    .then(() => world.deploy(['--no-notify']));
}

async function fallAsleep(world: TrafficWorld): Promise<void> {
  await sleep(1_100);
  const { status, stderr } = await fetch(world.root);
  assert.is(status, 0, stderr);
  assert.is(world.live(), 'a.asleep', stderr);
  assert.equal(runningSlots(world), []);
}

const startsOf = (world: TrafficWorld) => readFileSync(join(world.dir, 'shared/starts'), 'utf8');

test('an idle preview falls asleep, and its first request wakes it', async ({ world }) => {
  await fallAsleep(world);
  const { proxy, dir, root } = world;
  assert.match(readFileSync(join(dir, 'current/VERSION'), 'utf8'), 'v0');
  const shown = await world.runner('status', 'shop');
  assert.match(shown.stdout, /asleep since .*, wakes on request\n/);
  const listed = JSON.parse((await world.runner('list', '--json')).stdout).apps[0];
  assert.is(listed.state, 'asleep');
  assert.is(listed.instances[0].running, null);
  await fetch(root);
  await world.runner('start', '--boot');
  assert.is(world.live(), 'a.asleep');
  const posted = await askHost(proxy, HOST, ['first ', 'second']);
  assert.equal([posted.status, posted.text], [200, 'first second']);
  assert.is(world.live(), 'a');
  assert.is((await askHost(proxy, HOST)).text, 'shop v0');
  await until(() => world.kinds().at(-1) === 'AppStarted', 'no record');
  const records = world.events().slice(-2);
  assert.equal(
    records.map(({ event_type: kind }) => kind),
    ['AppStopped', 'AppStarted'],
  );
  assert.match(String(records[0]?.reason), /^asleep: no request for /);
  assert.is(records[1]?.reason, 'woken by a request');
  assert.not(world.kinds().includes('AppDown'));
});

test('requests at once start it once; an upgraded connection stays open and keeps it awake', async ({
  world,
}) => {
  await fallAsleep(world);
  const asked = Array.from({ length: 20 }, (_, at) => askHost(world.proxy, HOST, [`${at}`]));
  const echo = connect({ path: join(world.dir, 'live/app.sock'), allowHalfOpen: true });
  echo.write(
    `GET / HTTP/1.1\r\nHost: ${HOST}:80\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nab`,
  );
  let heard = '';
  echo.on('data', (chunk) => {
    heard += chunk;
  });
  const answers = await Promise.all(asked);
  assert.equal(
    answers.map(({ text }) => text),
    answers.map((_, at) => `${at}`),
  );
  assert.is(startsOf(world), 'xx');
  await sleep(1_100);
  await fetch(world.root);
  assert.is(world.live(), 'a');
  assert.match(heard, /\r\n\r\nab$/);
  echo.end('cd');
  await new Promise((resolve) => echo.once('close', resolve));
  assert.match(heard, /abcd$/);
});

test('a start that fails is answered with 503 and not repeated for each request', async ({
  world,
}) => {
  await fallAsleep(world);
  writeFileSync(join(world.dir, 'shared/bad'), '');
  const first = await askHost(world.proxy, HOST);
  assert.is(first.status, 503);
  assert.is(first.again, '5');
  const second = await askHost(world.proxy, HOST, ['x'.repeat(100_000)]);
  assert.is(second.status, 503);
  assert.is(startsOf(world), 'xx');
  assert.is(world.live(), 'a.asleep');
  const other = await askHost(world.proxy, 'pr-8.preview.example.org');
  assert.equal([other.status, other.text], [404, 'No preview on this server has this name.\n']);
  const twice = await askHost(world.proxy, 'bad host\r\nhost: x').catch(() => undefined);
  assert.is(twice, undefined);
});

test.run();
