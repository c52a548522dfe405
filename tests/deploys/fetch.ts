/** What the short and the long tests of fetch share. */
import { type Ended, run } from '@runner/testing/run';
import type { World } from './world.ts';

export const fetch = (world: World, args: readonly string[] = []): Promise<Ended> =>
  run('runner-fetch', args, { root: world.root });
