/** What the short and the long tests of home share. */

import { join } from 'node:path';
import { suite } from 'uvu';
import { inWorld, type World } from '../deploys/world.ts';
import { isAvailable } from './available.ts';

export const home = suite('HOME in the sandbox');
export const test = isAvailable ? home : home.skip;

export const REQUIRED = { RUNNER_SANDBOX: 'required' };

export const inHome = (body: (world: World, home: string) => Promise<void>) =>
  inWorld((world) => body(world, join(world.root, 'apps/shop/home')));
