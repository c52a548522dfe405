/** `runner hold-traffic`: requests wait, or get a page, and none is lost. */
import { execFileSync } from 'node:child_process';
import { readlinkSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { accepts } from '@runner/deploy/instances/reach';
import { start } from '@runner/testing/run';
import { request } from '@runner/testing/traffic-proxy';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { hold, holderOf, holdSuite, loseHolder } from './hold.ts';
import type { TrafficWorld } from './world.ts';

const test = holdSuite('held traffic');

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

test('no request waits longer than asked for, also if the state cannot be written', async ({
  world,
}) => {
  await world.ship('v1');
  assert.is((await hold(world, '--for', '4s')).status, 0);
  const waiting = request(world.proxy.port);
  // As on a full disk.
  execFileSync('prlimit', ['--pid', String(holderOf(world)), '--fsize=0:unlimited']);
  assert.equal(await waiting, { status: 200, version: 'v1' });
  assert.not.equal(world.live(), 'hold');
  assert.ok(world.state().traffic_hold);
  assert.is((await world.runner('fetch', '--no-notify')).status, 0);
  assert.is(world.state().traffic_hold, null);
  assert.ok(world.kinds().includes('TrafficReleased'));
});

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

/** What each command says of the app, and the status of `status --check`. */
async function shown(world: TrafficWorld) {
  const said = async (tool: string, ...args: string[]) =>
    (await world.runner(tool, ...args)).stdout;
  const check = await world.runner('status', '--check');
  return {
    texts: [
      await said('status', 'shop'),
      await said('list'),
      await said('top', '--once'),
      check.stdout,
    ].map((text) => text.replace(/\s+/g, ' ')),
    check: check.status,
    gauges: (await said('status', '--prometheus')).match(/^runner_app_traffic_.*$/gm),
    doctor: await said('doctor', '--offline'),
  };
}

test('a hold is shown everywhere, and so is that its process has died', async ({ world }) => {
  await world.ship('v1');
  assert.is((await hold(world, '--for', '1m')).status, 0);
  const held = await shown(world);
  for (const text of held.texts) assert.match(text, /requests wait until \S+ \S+ UTC, held by /);
  assert.is(held.check, 0);
  assert.equal(held.gauges, [
    'runner_app_traffic_held{app="shop"} 1',
    'runner_app_traffic_lost{app="shop"} 0',
  ]);
  assert.not.match(held.doctor, /requests of shop fail/);
  await loseHolder(world, 'SIGKILL');
  const lost = await shown(world);
  for (const text of lost.texts)
    assert.match(text, /requests fail, the process that held them has died: runner fetch shop/);
  assert.is(lost.check, 1);
  assert.match(String(lost.gauges), /traffic_lost\{app="shop"\} 1/);
  assert.match(lost.doctor, /problem +traffic +requests of shop fail.*\n +runner fetch shop/);
  const fetching = start('runner-fetch', ['shop'], { root: world.root });
  await until(() => fetching.stderr().includes('has died, and is started again'), 'no line');
  const socketPath = join(world.dir, 'live/app.sock');
  assert.ok(await accepts({ socketPath }), 'it was announced before it listened');
  await fetching.done;
});

test('a release that is deployed meanwhile is neither tried nor judged, and everything says so', async ({
  world,
}) => {
  const traffic = 'traffic: { type: socket, drain: 500ms }\n';
  await world.ship('v1', 'good', traffic);
  assert.is((await hold(world, '--for', '1m')).status, 0);
  const done = await world.ship('v2', 'good', `${traffic}watch: 10s\ncanary: [5%]\n`);
  assert.is(done.status, 0, done.stderr);
  const said = 'requests were held: v2 had no canary and is not watched\n';
  assert.match(done.stderr, `runner deploy: ${said}`);
  const shown = await world.runner('watch', 'shop');
  assert.is(shown.status, 3);
  assert.match(shown.stdout, /^Not judged: shop v2: requests were held: v2 had no canary/);
  assert.equal(world.kinds().slice(-2), ['DeploySuccess', 'WatchEnded']);
  assert.is(world.events().at(-1)?.verdict, 'not_judged');
  assert.is((await world.runner('audit', 'verify')).status, 0);
});

test('what an app puts in place of its socket is not reached through runner', async ({ world }) => {
  await world.ship('v1');
  const live = join(world.dir, 'live');
  const own = join(world.dir, readlinkSync(live), 'app.sock');
  const path = join(world.root, '../private.sock');
  let reached = 0;
  const other = createServer((socket) => {
    reached += 1;
    socket.destroy();
  }).listen(path);
  try {
    assert.is((await hold(world, '--for', '1m')).status, 0);
    const waiting = request(world.proxy.port).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 300));
    unlinkSync(own);
    symlinkSync(path, own);
    await hold(world, '--end');
    await waiting;
    assert.is(reached, 0);
  } finally {
    other.close();
  }
});

test.run();
