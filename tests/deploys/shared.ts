/** What the short and the long tests of shared share. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import { makeWorld, type World } from './world.ts';

export const inCurrent = (world: World, path: string) =>
  readFileSync(join(world.root, 'apps/shop/instances/default/current', path), 'utf8');

export function sharedSuite(name: string) {
  const test = suite<{ world: World }>(name);
  test.before.each(async (context) => {
    context.world = await makeWorld();
  });
  test.after.each(async ({ world }) => {
    await world.close();
  });
  return test;
}
