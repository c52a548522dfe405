/** What the short and the long tests of shared share. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { World } from './world.ts';

export const inCurrent = (world: World, path: string) =>
  readFileSync(join(world.root, 'apps/shop/instances/default/current', path), 'utf8');
