/** What the short and the long tests of several share. */
import { run } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeWorld, REPO, type World } from './world.ts';

export const deploy = ({ root }: World, ...args: string[]) => run('runner-deploy', args, { root });

export const push = (world: World, branch: string, deployFile: string) =>
  world.git.commit(REPO, { '.deploy.yml': deployFile }, branch, { branch });

export function severalSuite(name: string) {
  const test = suite<{ world: World }>(name);
  test.before.each(async (context) => {
    context.world = await makeWorld();
    const { root } = context.world;
    const added = await run(
      'runner-add',
      [REPO, '--branch', 'other', '--name', 'blog', '--token-from', 'shop'],
      { root },
    );
    assert.is(added.status, 0, added.stderr);
  });
  test.after.each(async ({ world }) => {
    await world.close();
  });
  return test;
}
