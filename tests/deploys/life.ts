/** What the short and the long tests of life share. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import type { World } from './world.ts';

export const type = (world: World, tool: string, ...args: string[]) =>
  run(`runner-${tool}`, args, { root: world.root });

export const stateOf = async (world: World) =>
  JSON.parse((await type(world, 'status', 'shop', '--json')).stdout);

export const fetched = async (world: World) => {
  const done = await type(world, 'fetch', '--deploy', '--json');
  return JSON.parse(done.stdout.trim().split('\n').at(-1) ?? '');
};

export const logged = (world: World) =>
  readFileSync(join(world.root, 'logs/fetch.log'), 'utf8').trim().split('\n');
