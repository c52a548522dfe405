/** What the short and the long tests of bell share. */
import { join } from 'node:path';
import { removeIfThere } from '@runner/common/files/read';
import { suite } from 'uvu';
import { HOSTS, startBell, type TestBell } from './clients.ts';

export const BODY = JSON.stringify({ ref: 'refs/heads/main', after: 'f'.repeat(40) });

export function bellSuite(name: string) {
  const test = suite<{ bell: TestBell }>(name);
  test.before(async (context) => {
    context.bell = await startBell();
  });
  test.after(({ bell }) => bell.close());
  test.before.each(({ bell }) => {
    for (const host of HOSTS) removeIfThere(join(bell.dir, 'wake', host));
  });
  return test;
}
