/** What the short and the long tests of not git share. */
import { suite } from 'uvu';
import { makeWorld, type World } from './world.ts';

export function notGitSuite(name: string) {
  const test = suite<{ world: World }>(name);
  test.before.each(async (context) => {
    context.world = await makeWorld();
  });
  test.after.each(({ world }) => world.close());
  return test;
}
