/** What the short and the long tests of traffic share. */
import { suite } from 'uvu';
import { makeTrafficWorld, type TrafficWorld } from './world.ts';

export function trafficSuite(name: string) {
  const test = suite<{ world: TrafficWorld }>(name);
  test.before.each(async (context) => {
    context.world = await makeTrafficWorld();
  });
  test.after.each(async ({ world }) => {
    await world.close();
  });
  return test;
}
