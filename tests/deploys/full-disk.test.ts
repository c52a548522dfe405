/** What operators do on a full disk: what runs goes on, and what is said of it is true. */
import { mkdtempSync } from 'node:fs';
import { run } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { smallDisk } from './full-disk.ts';
import { makeWorld } from './world.ts';

test('a rollback that a full disk prevents says that the version before still runs', async () => {
  const parent = mkdtempSync('/tmp/runner-full-');
  const disk = smallDisk(parent, '48m');
  if (!disk) return;
  const world = await makeWorld({ parent });
  for (const version of ['v0', 'v1']) {
    await world.launch(version);
  }
  disk.fill();
  const failed = await run('runner-rollback', ['shop'], { root: world.root });
  assert.is(failed.status, 1, failed.stderr);
  assert.match(failed.stdout, /^Failed to roll back shop .* v1 is active as before\.\n$/);
  assert.is(await world.page(), 'v1');
  await world.close();
  disk.remove();
});

test.run();
