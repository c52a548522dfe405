/** What the short and the long tests of fetch share. */
import { type Ended, run } from '@runner/testing/run';
import { suite } from 'uvu';
import { makeWorld, type World } from './world.ts';

export const fetch = (world: World, args: readonly string[] = []): Promise<Ended> =>
  run('runner-fetch', args, { root: world.root });

export function fetchSuite(name: string) {
  const test = suite<{ world: World }>(name);
  test.before.each(async (context) => {
    context.world = await makeWorld();
  });
  test.after.each(async ({ world }) => {
    await world.close();
  });
  return test;
}
