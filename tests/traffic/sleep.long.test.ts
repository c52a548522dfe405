import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { fallAsleep, HOST, sleepSuite } from './sleep.ts';
import { askHost, fetch } from './sleep-world.ts';
import type { TrafficWorld } from './world.ts';

const test = sleepSuite('sleep');

const startsOf = (world: TrafficWorld) => readFileSync(join(world.dir, 'shared/starts'), 'utf8');

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
