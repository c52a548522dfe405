/** What the short and the long tests of seams share. */
import { request } from '@runner/testing/traffic-proxy';
import { suite } from 'uvu';
import { makeTrafficWorld, type TrafficWorld } from './world.ts';

/** '' if no one answers. */
export const versionAt = async (port: number) => (await request(port)).version;

export function seamsSuite(name: string) {
  const test = suite<{ world: TrafficWorld }>(name);
  test.before.each(async (context) => {
    context.world = await makeTrafficWorld();
  });
  test.after.each(async ({ world }) => {
    await world.close();
  });
  return test;
}
