/** What the short and the long tests of verify share. */
import { createHash } from 'node:crypto';
import { symlinkSync, unlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import type { World } from '../deploys/world.ts';

/** What hard cases of a folder are made of: names that are no UTF-8, links, a pipe, an empty folder. */
export const BUILD = [
  'mkdir -p dist/empty',
  'echo 1 > dist/main.js',
  'printf x > "$(printf \'dist/caf\\351\')"',
  'printf y > "$(printf \'dist/a\\nb \')"',
  'ln -s main.js dist/link',
  'mkfifo dist/pipe',
  'echo run > dist/tool',
  'chmod 755 dist/tool',
];

export const FILE = `keep: 3\nshared: [storage/]\nbuild:\n${BUILD.map((line) => `  - ${JSON.stringify(line)}\n`).join('')}`;

export const verify = (world: World, ...args: string[]) =>
  run('runner-verify', args.length > 0 ? args : ['shop'], { root: world.root });

export async function deployed(world: World, version = 'v1'): Promise<string> {
  const commit = await world.push(version, { deploy: FILE });
  const { status, stderr } = await world.deploy();
  assert.is(status, 0, stderr);
  return commit;
}

export const releaseOf = (world: World) =>
  join(world.root, 'apps/shop/releases', basename(world.current() ?? ''));

export const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');

export function relink(path: string, target: string): void {
  unlinkSync(path);
  symlinkSync(target, path);
}
