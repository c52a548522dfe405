import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { isKilled, type Kill, killAtEachCall } from '@runner/testing/killing';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KEPT, newRoot, prune, releasesOf } from './root.ts';

test('killed at any call or moment, it can be repeated, and what is kept is whole', async () => {
  const template = await newRoot();
  const tryOnce = async (kill: Kill) => {
    const root = join(temporaryFolder('prune'), 'root');
    cpSync(template, root, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    const killed = await isKilled({ tool: 'runner-prune', args: [] }, kill, root);
    for (const name of KEPT) assert.ok(existsSync(join(root, `apps/shop/releases/${name}/big`)));
    const { status, stderr } = await prune(root);
    assert.equal([status, stderr], [0, '']);
    assert.equal(releasesOf(root), KEPT);
    return killed;
  };
  const calls = await killAtEachCall((call) => tryOnce({ call }));
  assert.ok(calls > 1, `${calls} calls`);
  // Folders are removed by rm, which outlives its parent.
  let kills = 0;
  for (let ms = 40; ms <= 400; ms += 20) if (await tryOnce({ ms })) kills += 1;
  assert.ok(kills > 0, 'never killed');
});

test.run();
