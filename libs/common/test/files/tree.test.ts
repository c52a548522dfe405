import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DEPTH_MAX, Folder, inFolder, isName } from '@runner/common/files/tree';
import { copyEntry, removeEntry, removeTree } from '@runner/common/files/tree-change';
import { Canary, exchanging } from '@runner/testing/exchange';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { plant, scratch } from './scratch.ts';

const codeOf = (action: () => unknown): unknown => {
  try {
    return action();
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

test('an open folder stays the same when a link replaces it', () => {
  const [place, canary] = [scratch(), new Canary(['file'])];
  plant(join(place, 'a/b/file'), 'ours');
  inFolder(Folder.open(place), (top) =>
    inFolder(top.below(['a', 'b']), (held) => {
      renameSync(join(place, 'a'), join(place, 'moved'));
      symlinkSync(canary.folder, join(place, 'a'));
      assert.equal(held.names().map(String), ['file']);
      held.makeFolder('made', 0o700);
      held.chmod(0o750);
      removeEntry(held, 'file');
      assert.is(
        codeOf(() => top.inner('a')),
        'ENOTDIR',
      );
    }),
  );
  assert.equal(readdirSync(join(place, 'moved/b')), ['made']);
  assert.is(canary.changes(), '');
});

test('a name never leads to another folder', () => {
  const name = fc.oneof(fc.string(), fc.constantFrom('', '.', '..', 'a/b', '/', 'a\0', '...'));
  const place = scratch();
  inFolder(Folder.open(place), (folder) =>
    fc.assert(
      fc.property(fc.oneof(name, fc.uint8Array({ maxLength: 300 }).map(Buffer.from)), (given) => {
        const bytes = Buffer.from(given as Buffer);
        const isUnsafe =
          bytes.includes('/') || bytes.includes(0) || ['', '.', '..'].includes(bytes.toString());
        assert.is(isName(given), !isUnsafe);
        if (isUnsafe) assert.throws(() => folder.path(given), /not a name/);
        else if (bytes.length < 255) {
          folder.makeLink(given, 'nowhere');
          assert.equal(folder.names(), [bytes]);
          removeEntry(folder, given);
          assert.equal(folder.names(), []);
        }
      }),
    ),
  );
});

test('a tree deeper than the limit is removed, and its links are not followed', () => {
  const [place, canary] = [scratch(), new Canary(['file'])];
  const depth = 3 * DEPTH_MAX + 7;
  const deepest = join(place, 'tree', ...Array.from({ length: depth }, () => 'd'));
  mkdirSync(deepest, { recursive: true });
  writeFileSync(join(deepest, 'file'), '');
  symlinkSync(canary.folder, join(deepest, 'link'));
  const open = () => readdirSync('/proc/self/fd').length;
  const before = open();
  inFolder(Folder.open(place), (top) =>
    assert.throws(
      () => top.below(['tree', ...Array.from({ length: depth }, () => 'd')]),
      new RegExp(`more than ${DEPTH_MAX} folders in each other`),
    ),
  );
  assert.is(removeTree(join(place, 'tree')), undefined);
  assert.equal(readdirSync(place), []);
  assert.is(canary.changes(), '');
  assert.is(open(), before);
});

test('read-only folders are removed; what cannot be removed is named', () => {
  const place = scratch();
  plant(join(place, 'tree/closed/file'), '');
  chmodSync(join(place, 'tree/closed'), 0o500);
  chmodSync(join(place, 'tree'), 0o500);
  assert.is(removeTree(join(place, 'tree')), undefined);
  assert.not.ok(existsSync(join(place, 'tree')));
  assert.is(removeTree(join(place, 'missing/tree')), undefined);
  assert.is(removeTree('/proc/self/fd'), '/proc/self/fd cannot be removed: not permitted');
});

test('a copy has the same bytes, modes, times and links', () => {
  const place = scratch();
  plant(join(place, 'a/sub/file'), 'x'.repeat(600_000), 0o640);
  symlinkSync('file', join(place, 'a/sub/link'));
  chmodSync(join(place, 'a/sub'), 0o2750);
  inFolder(Folder.open(place), (folder) =>
    copyEntry({ from: folder, name: 'a', to: folder, newName: 'b' }),
  );
  for (const path of ['sub', 'sub/file']) {
    const [from, to] = ['a', 'b'].map((each) => lstatSync(join(place, each, path)));
    const times = [to, from].map((stat) => Math.round(stat?.mtimeMs ?? 0));
    assert.equal([to?.mode, times[0]], [from?.mode, times[1]]);
  }
  assert.is(readlinkSync(join(place, 'b/sub/link')), 'file');
  assert.is(statSync(join(place, 'b/sub/link')).size, 600_000);
  assert.is(readFileSync(join(place, 'b/sub/file'), 'utf8'), 'x'.repeat(600_000));
});

test('while folders are exchanged for links, a removal touches nothing outside', async () => {
  const canary = new Canary(['file', 'other']);
  const place = scratch();
  const wanted = Number(process.env.EXCHANGES ?? 10_000);
  let exchanges = 0;
  for (let round = 0; exchanges < wanted && round < wanted; round += 1) {
    const pairs = ['', 'x/', 'x/y/', 'x/y/z/'].map((above) => {
      const folder = join(place, `tree/${above}d`);
      for (const name of ['file', 'other', 'inner/file']) plant(join(folder, name), 'ours');
      if (!existsSync(`${folder}2`)) symlinkSync(canary.folder, `${folder}2`);
      return { folder, link: `${folder}2`, target: canary.folder };
    });
    const attack = exchanging(pairs);
    await new Promise((resolve) => setTimeout(resolve, 20));
    // It may not win against what makes new entries, and says so.
    removeTree(join(place, 'tree'));
    exchanges += await attack.stop();
    assert.is(removeTree(join(place, 'tree')), undefined);
  }
  assert.ok(exchanges >= wanted, `${exchanges} exchanges`);
  assert.is(canary.changes(), '');
});

test.run();
