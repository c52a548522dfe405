/** What the short and the long tests of init share. */
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import type { World } from './world.ts';

export const scratches = temporaryFolder('scratches');

export const init = ({ root }: World, args: readonly string[], temporary = scratches) =>
  run('runner-init', ['--app', 'shop', ...args], {
    root,
    env: { TMPDIR: temporary, RUNNER_SANDBOX: 'auto' },
  });
