/** What the short and the long tests of test share. */

import { suite } from 'uvu';
import { type Asking, startAsking } from './asking.ts';

export let host: Asking['host'];

export let root: Asking['root'];

export let ask: Asking['ask'];

export let refused: Asking['refused'];

export function testSuite(name = '') {
  const test = suite(name);
  test.before.each(async () => {
    ({ host, root, ask, refused } = await startAsking());
  });
  test.after.each(() => host.close());
  return test;
}
