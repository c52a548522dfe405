/** What the short and the long tests of sleep share. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningCommand } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { addParent, fetch, markPreview, sleepyFiles, startWaker } from './sleep-world.ts';
import { makeTrafficWorld, runningSlots, type TrafficWorld } from './world.ts';

export const HOST = 'pr-7.preview.example.org';

export function ship(world: TrafficWorld, version: string) {
  return world
    .push(version, { files: sleepyFiles(HOST, version) })
    .then(() => world.deploy(['--no-notify']));
}

export async function fallAsleep(world: TrafficWorld): Promise<void> {
  await sleep(1_100);
  const { status, stderr } = await fetch(world.root);
  assert.is(status, 0, stderr);
  assert.is(world.live(), 'a.asleep', stderr);
  assert.equal(runningSlots(world), []);
}

export function sleepSuite(name: string) {
  const test = suite<{ world: TrafficWorld; waker: RunningCommand }>(name);
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
  return test;
}
