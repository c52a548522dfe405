/** What the short and the long tests of preflight share. */
import { join } from 'node:path';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import { makeWorld, type World } from './world.ts';

export const failures = (world: World) =>
  world.events().filter(({ event_type: kind }) => kind === 'DeployFailure');

export function preflightSuite(name: string) {
  const test = suite<{ world: World; built: string }>(name);
  test.before.each(async (context) => {
    context.world = await makeWorld();
    context.built = join(temporaryFolder('built'), 'built');
  });
  test.after.each(async ({ world }) => {
    await world.close();
  });
  return test;
}
