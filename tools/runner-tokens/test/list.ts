/** What the short and the long tests of list share. */
import { run } from '@runner/testing/run';

export const LINE = '-'.repeat(60);

export const SECOND = 'the-second-token-0123456789';

export const list = (root: string, ...args: string[]) =>
  run('runner-tokens', ['list', ...args], { root });
