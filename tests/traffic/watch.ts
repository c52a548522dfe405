/** What the short and the long tests of watch share. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { killApp } from '@runner/testing/app';
import type { Manner } from '@runner/testing/traffic-app';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeTrafficWorld, type TrafficWorld } from './world.ts';

export const TRAFFIC = 'traffic: { type: socket, drain: 500ms }\n';

/** Ships `v1`, and `v2` which behaves in a way and is watched. */
export async function shipWatched(world: TrafficWorld, watch: string, manner: Manner = 'good') {
  await world.ship('v1', 'good', TRAFFIC);
  const done = await world.ship('v2', manner, `${TRAFFIC}watch: ${watch}\n`);
  assert.is(done.status, 0, done.stderr);
  return done;
}

export const isOver = (world: TrafficWorld) => () => !world.state().watch;

export const recordOf = (world: TrafficWorld, kind: string) =>
  world.events().find(({ event_type: each }) => each === kind);

export const watched = (world: TrafficWorld) =>
  world.state().watched as Record<string, string> | undefined;

/** The process that watches; 0 if there is none. */
export function watcher(world: TrafficWorld): number {
  const lock = join(world.root, 'locks/shop.watch');
  return existsSync(lock) ? Number(/"pid":(\d+)/.exec(readFileSync(lock, 'utf8'))?.[1]) : 0;
}

export function watchSuite(name: string) {
  const test = suite<{ world: TrafficWorld }>(name);
  test.before.each(async (context) => {
    context.world = await makeTrafficWorld();
  });
  test.after.each(async ({ world }) => {
    killApp(world.root, 'shop');
    await world.close();
  });
  return test;
}
