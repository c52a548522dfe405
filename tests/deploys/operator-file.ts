/** What the short and the long tests of operator file share. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import type { World } from './world.ts';

export function written(text: string): string {
  const path = join(temporaryFolder('operator'), 'shop.deploy.yml');
  writeFileSync(path, text);
  return path;
}

export const edit = ({ root }: World, args: readonly string[], stdin = '') =>
  run('runner-edit', ['shop', ...args], { root, stdin });

export const checked = async (world: World) => {
  const { stdout } = await world.deploy(['--check', '--json']);
  const { deploy_file_from: from, warnings } = JSON.parse(stdout) as Record<string, unknown>;
  return [from, warnings];
};
