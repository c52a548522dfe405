import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { killedAtCall } from '@runner/testing/killing';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KEPT, newRoot, prune, releasesOf } from './root.ts';

test('killed at any call that changes a file, it can be repeated, and what is kept is whole', async () => {
  const template = await newRoot();
  let at = 0;
  for (let killed = true; killed; ) {
    at += 1;
    const root = join(temporaryFolder('prune'), 'root');
    cpSync(template, root, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    killed = await killedAtCall('runner-prune', [], at, { root });
    for (const name of KEPT) assert.ok(existsSync(join(root, `apps/shop/releases/${name}/big`)));
    assert.is((await prune(root)).status, 0);
    assert.equal(releasesOf(root), KEPT);
  }
  assert.ok(at > 10, `${at} calls`);
});

test.run();
