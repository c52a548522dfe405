/** What the short and the long tests of shared share. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { IDENTITY, RECIPIENT } from '@runner/testing/age-key';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import * as assert from 'uvu/assert';

export const identity = join(temporaryFolder('key'), 'key.txt');

writeFileSync(identity, IDENTITY);

export const IN_ROOT = 'apps/shop/instances/default/shared';

/** A root with an app, and its shared folder. */
export async function makeRoot(): Promise<{ root: string; shared: string }> {
  const root = join(temporaryFolder('backup'), 'root');
  const add = ['--repo', 'acme/shop', '--branch', 'main', '--token', '-'];
  const { status, stderr } = await run('runner-add', add, { root, stdin: 'our-own-t0ken-of-shop' });
  assert.is(status, 0, stderr);
  const shared = join(root, IN_ROOT);
  mkdirSync(shared, { recursive: true });
  return { root, shared };
}

export async function backUp(root: string, ...more: string[]) {
  const to = join(root, '../backup.age');
  const args = ['--to', to, '--recipient', RECIPIENT, '--with-shared', ...more];
  return { ...(await run('runner-backup', args, { root })), to };
}
