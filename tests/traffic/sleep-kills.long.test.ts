/** {kill -9 at each step of falling asleep and of waking}: the next request is answered. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runKilled } from '@runner/testing/killing';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Activator,
  activateWaker,
  addParent,
  askHost,
  fetch,
  markPreview,
  sleepyFiles,
} from './sleep-world.ts';
import { makeTrafficWorld, runningSlots, type TrafficWorld } from './world.ts';

const HOST = 'pr-7.preview.example.org';
/** Kills of the waker while it holds a request. */
const KILLS = Number(process.env.WAKER_KILLS ?? 20);

const test = suite<{ world: TrafficWorld; waker: Activator }>('kills of sleep');

test.before.each(async (context) => {
  context.world = await makeTrafficWorld();
  const { root, push, deploy } = context.world;
  await push('v0', { files: sleepyFiles(HOST, 'v0') });
  await deploy();
  await addParent(root);
  markPreview(root, 'shop', { sleep_after: '0s' });
  context.waker = await activateWaker(root);
});
test.after.each(async ({ world, waker }) => {
  waker.close();
  await world.close();
});

async function fallAsleep(world: TrafficWorld): Promise<void> {
  // What a killed waker had started may still have the lock.
  await until(async () => {
    await fetch(world.root);
    return String(world.live()).endsWith('.asleep') && runningSlots(world).length === 0;
  }, 'it does not fall asleep');
}

async function isAwake({ proxy, live }: TrafficWorld, when: string): Promise<void> {
  const answer = await askHost(proxy, HOST, ['one ', 'two']);
  assert.equal([answer.status, answer.text], [200, 'one two'], when);
  assert.match(String(live()), /^[ab]$/, when);
}

/** Kills a command at its n-th change, for each n until it ends before that. Returns how often. */
async function killEach(
  world: TrafficWorld,
  command: Parameters<typeof runKilled>[0],
  between: () => Promise<void>,
): Promise<number> {
  for (let call = 1; ; call += 1) {
    const ended = await runKilled(command, { call }, world.root);
    await isAwake(world, `${command.tool} was killed at change ${call}`);
    await between();
    if (ended.signal === 'SIGKILL') continue;
    console.log(`(${call - 1} kills of ${command.tool})`);
    return call - 1;
  }
}

test('a fetch that is killed while an app falls asleep', async ({ world }) => {
  const command = { tool: 'runner-fetch', args: ['--deploy'] };
  const kills = await killEach(world, command, async () => {});
  assert.ok(kills > 20, `${kills}`);
  await fallAsleep(world);
  // A kill may have left half a line.
  const log = readFileSync(join(world.root, 'logs/deploy-events.jsonl'), 'utf8');
  assert.not(log.includes('AppDown'));
});

test('a start that is killed while it wakes an app', async ({ world }) => {
  await fallAsleep(world);
  const command = { tool: 'runner-start', args: ['shop', '--asleep'] };
  const kills = await killEach(world, command, () => fallAsleep(world));
  assert.ok(kills > 20, `${kills}`);
});

test('a waker that is killed while it holds a request', async ({ world, waker }) => {
  let cut = 0;
  for (let time = 0; time < KILLS; time += 1) {
    await fallAsleep(world);
    const first = askHost(world.proxy, HOST, ['x']);
    await sleep(Math.random() * 1_200);
    const pid = waker.pid();
    if (pid !== undefined)
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
    // While the start goes on, the next request waits for it.
    await isAwake(world, `kill ${time}`);
    const { status } = await first;
    if (status === 0) cut += 1;
    else assert.is(status, 200);
  }
  console.log(`(${KILLS} kills of the waker, ${cut} requests that it held were cut)`);
});

test.run();
