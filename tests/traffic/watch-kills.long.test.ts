/**
 * The way back of a watched release under load: no request is lost, also if the watcher is killed at any
 * moment of it, and how long the bad version still answers. WATCH_ROUNDS=n changes the number of rounds.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { killApp } from '@runner/testing/app';
import { IS_WHOLE } from '@runner/testing/extent';
import { randomOf } from '@runner/testing/random';
import { request, startLoad } from '@runner/testing/traffic-proxy';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeTrafficWorld } from './world.ts';

const test = suite('way back of a watch');
const ROUNDS = Number(process.env.WATCH_ROUNDS ?? (IS_WHOLE ? 50 : 6));
const line = (status: number) => `{"status":${status},"duration":0.01}\n`;

test('a bad release is left without a lost request, and a killed watcher does not keep it', async () => {
  const world = await makeTrafficWorld();
  const random = randomOf(11);
  const log = join(world.root, '..', 'access.log');
  const lock = join(world.root, 'locks/shop.watch');
  const more = `traffic: { type: socket, drain: 500ms }\nwatch: { for: 5m, access_log: "${log}" }\n`;
  const late: number[] = [];
  let requests = 0;
  try {
    writeFileSync(log, line(200).repeat(1_000));
    await world.ship('v0', 'good', more);
    await world.runner('restart', 'shop');
    for (let round = 1; round <= ROUNDS; round += 1) {
      const load = startLoad(world.proxy.port);
      const done = await world.ship(`v${round}`, 'good', more);
      assert.is(done.status, 0, done.stderr);
      // The newest answer of the bad version.
      let [last, asked, unanswered] = [0, 0, 0];
      const asking = setInterval(async () => {
        const { status, version } = await request(world.proxy.port);
        asked += 1;
        if (status !== 200) unanswered += 1;
        if (version === `v${round}`) last = Date.now();
      }, 10);
      const failing = setInterval(() => appendFileSync(log, line(500).repeat(20)), 100);
      const isKilled = round % 2 === 0;
      if (isKilled) {
        await until(
          () => existsSync(lock) && readFileSync(lock, 'utf8').includes('pid'),
          'no watcher',
        );
        await sleep(random() * 3_000);
        const pid = Number(/"pid":(\d+)/.exec(readFileSync(lock, 'utf8'))?.[1]);
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // It was faster.
        }
        await world.runner('fetch', '--deploy');
      }
      await until(() => !world.state().watch && !world.state().deploying, 'the watch does not end');
      clearInterval(failing);
      await sleep(500);
      clearInterval(asking);
      const { failed, requests: count } = await load.end();
      requests += count + asked;
      assert.equal([failed, unanswered], [[], 0], `round ${round}`);
      const { current } = world.instance() as { current: { version: string } };
      assert.is(current.version, 'v0', `round ${round}`);
      const found = world
        .events()
        .filter(({ event_type: kind }) => kind === 'WatchFailed')
        .at(-1);
      assert.is(found?.version, `v${round}`);
      if (!isKilled) late.push(Math.max(0, last - Date.parse(String(found?.timestamp))));
    }
    assert.is((await world.runner('audit', 'verify')).status, 0);
  } finally {
    killApp(world.root, 'shop');
    await world.close();
  }
  late.sort((a, b) => a - b);
  const at = (share: number) => late[Math.floor(late.length * share)];
  process.stdout.write(
    `(${ROUNDS} rounds, ${requests} requests, 0 lost; the last bad answer came ${at(0.5)} ms after the verdict, ${at(0.99)} ms at most)\n`,
  );
});

test.run();
