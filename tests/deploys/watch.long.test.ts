/** A watch without traffic: the way back is an ordinary rollback, and nothing that it shows holds a secret. */
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { killApp } from '@runner/testing/app';
import { run } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deployFile, makeWorld, type World } from './world.ts';

const test = suite<{ world: World }>('watch without traffic');
const SECRET = 'k3y-of-the-queue-0123456789';

test.before.each(async (context) => {
  context.world = await makeWorld();
});
test.after.each(async ({ world }) => {
  killApp(world.root, 'shop');
  await world.close();
});

const isOver = (world: World) => () => !world.state().watch && !world.state().deploying;
const last = (world: World) => world.state().watched as { verdict: string; reason: string };

async function shipWatched(world: World, watch: string) {
  await world.push('v1');
  await world.deploy();
  await world.launch('v2', { deploy: deployFile(world.port, `watch: ${watch}\n`) });
}

test('a command that fails again and again is bad, and its output is redacted everywhere', async ({
  world,
}) => {
  const { root } = world;
  const args = ['set', 'shop', 'API_KEY', '--file', '-'];
  assert.is((await run('runner-env', args, { root, stdin: SECRET })).status, 0);
  await shipWatched(world, `{ for: 5m, run: "echo no queue for $API_KEY; exit 4" }`);
  const shown = run('runner-watch', ['shop', '--json'], { root });
  await until(isOver(world), 'the watch does not end');
  assert.match(
    last(world).reason,
    /^`echo no queue for \$API_KEY; exit 4` of default: 3 of 3 failed: ended with status 4: no queue for /,
  );
  const { status, stdout, stderr } = await shown;
  assert.is(status, 1);
  assert.is(await world.page(), 'v1');
  const { held } = world.state() as { held: { reason: string } };
  assert.match(held.reason, /^v2 failed its watch: /);
  const log = join(root, 'logs/deploy-events.jsonl');
  const state = join(root, 'state/shop.json');
  for (const text of [stdout, stderr, ...[log, state].map((path) => readFileSync(path, 'utf8'))])
    assert.not.match(text, SECRET);
  assert.not.ok(existsSync(join(root, 'apps/shop/.watch.json.tmp')));
});

test('after a reboot the watch goes on, and a release that is bad is left', async ({ world }) => {
  const { root } = world;
  await shipWatched(world, '{ for: 10m, run: "exit 4" }');
  const lock = join(root, 'locks/shop.watch');
  const watcher = () => Number(/"pid":(\d+)/.exec(readFileSync(lock, 'utf8'))?.[1]);
  await until(() => existsSync(lock) && watcher() > 0, 'no one watches');
  process.kill(watcher(), 'SIGKILL');
  killApp(root, 'shop');
  const booted = await run('runner-start', ['--boot'], { root });
  assert.is(booted.status, 0, booted.stderr);
  await until(isOver(world), 'the watch does not end');
  assert.is(last(world).verdict, 'bad', last(world).reason);
  assert.is(await world.page(), 'v1');
  assert.equal(
    world.kinds().filter((kind) => String(kind).startsWith('Watch')),
    ['WatchFailed'],
  );
});

test('a query that has a result again and again is bad; a first release stays', async ({
  world,
}) => {
  const server = createServer((request, response) => {
    assert.match(String(request.url), /^\/prom\/api\/v1\/query\?query=shop_age\+%3E\+60$/);
    response.end('{"status":"success","data":{"resultType":"vector","result":[{}]}}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/prom`;
    const query = `{ for: 5m, query: { url: "${url}", expr: "shop_age > 60" } }`;
    await world.launch('v1', { deploy: deployFile(world.port, `watch: ${query}\n`) });
    await until(isOver(world), 'the watch does not end');
    assert.match(
      last(world).reason,
      /^`shop_age > 60`: 3 of 3 failed: it has 1 result; v1 stays: 'shop' has no earlier version to roll back to$/,
    );
    assert.is(await world.page(), 'v1');
    assert.is(world.kinds().at(-1), 'WatchFailed');
  } finally {
    server.close();
  }
});

test('a query that no one answers says why, and calls nothing good', async ({ world }) => {
  const error = 'invalid parameter "query"';
  const server = createServer((_, response) => {
    response.statusCode = 400;
    response.end(JSON.stringify({ status: 'error', error }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const query = `{ for: 12s, query: { url: "${url}", expr: "a >" } }`;
    await world.launch('v1', { deploy: deployFile(world.port, `watch: ${query}\n`) });
    await until(isOver(world), 'the watch does not end');
    assert.is(last(world).verdict, 'not_judged');
    assert.match(last(world).reason, /`a >`: 0 of 0 good; status 400: invalid parameter "query"/);
  } finally {
    server.close();
  }
});

test('new error lines are found, and those that were printed before are not', async ({ world }) => {
  const noisy = (line: string) =>
    deployFile(world.port).replace(
      'exec node server.js',
      `"(while true; do echo 'Error: ${line}' >&2; sleep 0.5; done) & exec node server.js"`,
    );
  // Of a first release no line is new.
  await world.launch('v1', { deploy: `${noisy('cache is cold')}watch: 15s\n` });
  await until(isOver(world), 'the watch does not end');
  assert.is(last(world).verdict, 'good', last(world).reason);
  await world.launch('v2', { deploy: `${noisy('cache is cold')}watch: 20s\n` });
  await until(isOver(world), 'the watch does not end');
  assert.equal([last(world).verdict, await world.page()], ['good', 'v2']);
  // Also if they come from the first moment on.
  await world.launch('v3', { deploy: `${noisy('table carts is gone')}watch: 5m\n` });
  await until(isOver(world), 'the watch does not end');
  assert.match(
    last(world).reason,
    /^output of default: new error lines in \d+ of \d+ s, first: Error: table carts is gone$/,
  );
  assert.is(await world.page(), 'v2');
});

test.run();
