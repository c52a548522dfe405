import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { killedAfter, killedAtCall } from '@runner/testing/killing';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KEPT, newRoot, prune, releasesOf } from './root.ts';

test('killed at any call or moment, it can be repeated, and what is kept is whole', async () => {
  const template = await newRoot();
  const tryOnce = async (kill: (root: string) => Promise<boolean>) => {
    const root = join(temporaryFolder('prune'), 'root');
    cpSync(template, root, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    const killed = await kill(root);
    for (const name of KEPT) assert.ok(existsSync(join(root, `apps/shop/releases/${name}/big`)));
    const { status, stderr } = await prune(root);
    assert.equal([status, stderr], [0, '']);
    assert.equal(releasesOf(root), KEPT);
    return killed;
  };
  const atCall = (at: number) => tryOnce((root) => killedAtCall('runner-prune', [], at, { root }));
  let at = 1;
  while (await atCall(at)) at += 1;
  assert.ok(at > 1, `${at} calls`);
  // Folders are removed by rm, which outlives its parent.
  let kills = 0;
  for (let after = 40; after <= 400; after += 20)
    if (await tryOnce((root) => killedAfter('runner-prune', [], after, { root }))) kills += 1;
  assert.ok(kills > 0, 'never killed');
});

test.run();
