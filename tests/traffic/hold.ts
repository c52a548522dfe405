/** What the short and the long tests of hold share. */
import { suite } from 'uvu';
import { makeTrafficWorld, type TrafficWorld } from './world.ts';

export const hold = (world: TrafficWorld, ...args: string[]) =>
  world.runner('hold-traffic', 'shop', ...args);

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
