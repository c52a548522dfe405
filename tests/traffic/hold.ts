/** What the short and the long tests of hold share. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import { makeTrafficWorld, type TrafficWorld } from './world.ts';

export const hold = (world: TrafficWorld, ...args: string[]) =>
  world.runner('hold-traffic', 'shop', ...args);

/** The process that holds the requests. */
export const holderOf = ({ root }: TrafficWorld) =>
  (JSON.parse(readFileSync(join(root, 'locks/shop.hold'), 'utf8')) as { pid: number }).pid;

/** Whether a process runs. */
export function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Ends the process that holds the requests. */
export async function loseHolder(world: TrafficWorld, signal: NodeJS.Signals) {
  const pid = holderOf(world);
  process.kill(pid, signal);
  await until(() => !isThere(pid), 'the holder does not end');
}

export function holdSuite(name: string) {
  const test = suite<{ world: TrafficWorld }>(name);
  test.before.each(async (context) => {
    context.world = await makeTrafficWorld();
  });
  test.after.each(async ({ world }) => {
    await world.runner('hold-traffic', 'shop', '--end');
    await world.close();
  });
  return test;
}
