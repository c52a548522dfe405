/** What the short and the long tests of diff share. */
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import type { World } from './world.ts';

export const lockFile = (packages: Readonly<Record<string, string>>) =>
  JSON.stringify({
    lockfileVersion: 3,
    packages: Object.fromEntries(
      Object.entries(packages).map(([name, version]) => [`node_modules/${name}`, { version }]),
    ),
  });

export async function deployed(world: World, version: string, deploy: string, packages: object) {
  const files = { 'package-lock.json': lockFile(packages as Record<string, string>) };
  const commit = await world.push(version, { deploy, files });
  const { status, stderr } = await world.deploy();
  assert.is(status, 0, stderr);
  return commit;
}

export const diff = (world: World, ...args: string[]) =>
  run('runner-diff', ['shop', ...args], { root: world.root });
