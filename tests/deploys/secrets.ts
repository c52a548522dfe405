/** What the short and the long tests of secrets share. */
import { suite } from 'uvu';
import { makeWorld, type World } from './world.ts';

export function secretsSuite(name: string) {
  const test = suite<{ world: World }>(name);
  test.before.each(async (context) => {
    context.world = await makeWorld();
  });
  test.after.each(async ({ world }) => {
    await world.close();
  });
  return test;
}
