/** Backups that were made to write elsewhere, to fill the disk, or to reach the terminal. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { archiveOf, made, manifest } from './archive.ts';
import { folder, link, restored, root, SHARED, top } from './hostile.ts';

test('what is printed of a backup cannot control the terminal', async () => {
  const evil = '\x1b]0;PWNED\x07\u202e';
  const entries = [
    manifest({ apps: ['shop', `shop${evil}`] }),
    made(`${SHARED}/x`, '', { owner: `no${evil}`, group: `g${evil}` }),
    link('apps/shop/instances/other/shared', evil),
  ];
  const { status, stdout, stderr } = await restored([archiveOf(entries)], join(top, 'printed'));
  assert.is(status, 0, stderr);
  assert.match(stdout, 'Apps: shop\n');
  assert.match(stdout, 'Not restored: the link apps/shop/instances/other/shared -> ');
  assert.match(stdout, 'Not set on shared files: group g');
  assert.not.match(stdout + stderr, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
});

test('a backup without announced sizes is restored, until the disk would be full', async () => {
  const old = [manifest(), made('mkey', 'x'), folder(SHARED), made(`${SHARED}/file`, 'y')];
  const { status, stderr } = await restored([archiveOf(old)], join(top, 'old'));
  assert.equal([status, stderr], [0, '']);
  const huge = made(`${SHARED}/huge`, '', { size: 1e15 });
  for (const first of [manifest(), manifest({ bytes: 1e15 })]) {
    const refused = await restored([archiveOf([first, huge])]);
    assert.is(refused.status, 1);
    assert.is(
      refused.stderr,
      'runner restore: there is not enough space for what is in the backup (disk_full)\n',
    );
    assert.not.ok(existsSync(root));
  }
});

test.run();
