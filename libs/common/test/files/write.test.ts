import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { sweepStrays, writeWhole } from '@runner/common/files/write';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { told } from '../cli/refusal.ts';
import { asNobody, mountTiny } from './faulty-disk.ts';
import { killedAfter, role, roleArgs, startRole } from './processes.ts';
import { plant, scratch } from './scratch.ts';

test('a file is written whole and is readable only by its owner', () => {
  const path = join(scratch(), 'file');
  writeWhole(path, 'one');
  assert.is(readFileSync(path, 'utf8'), 'one');
  assert.is(statSync(path).mode & 0o7777, 0o600);
  writeWhole(path, Buffer.from([0, 255]));
  assert.equal([...readFileSync(path)], [0, 255]);
  writeWhole(path, '');
  assert.is(readFileSync(path, 'utf8'), '');
  assert.equal(readdirSync(dirname(path)), ['file']);
});

test('a new file gets the requested mode; an existing file keeps its own', () => {
  const folder = scratch();
  writeWhole(join(folder, 'new'), 'x', 0o640);
  assert.is(statSync(join(folder, 'new')).mode & 0o7777, 0o640);
  chmodSync(join(folder, 'new'), 0o604);
  writeWhole(join(folder, 'new'), 'y', 0o640);
  assert.is(statSync(join(folder, 'new')).mode & 0o7777, 0o604);
});

test('what root writes into the folder of another user belongs to that user', () => {
  if (process.getuid?.() !== 0) return void process.stdout.write('(left out: needs root)\n');
  const folder = scratch();
  const path = join(folder, 'state.json');
  writeWhole(path, 'of root');
  assert.is(statSync(path).uid, 0);
  chownSync(folder, 65_534, 65_534);
  writeWhole(path, 'changed');
  assert.equal([statSync(path).uid, statSync(path).gid], [65_534, 65_534]);
  assert.is(statSync(path).mode & 0o7777, 0o600);
});

test('a link in the place of a file is replaced, and its target is left alone', () => {
  const folder = scratch();
  plant(join(folder, 'target'), 'old');
  symlinkSync('target', join(folder, 'link'));
  writeWhole(join(folder, 'link'), 'new');
  assert.is(readFileSync(join(folder, 'target'), 'utf8'), 'old');
  assert.ok(lstatSync(join(folder, 'link')).isFile());
});

test('a failed write is refused and leaves nothing behind', () => {
  const folder = scratch();
  const said = (path: string) => told(() => writeWhole(path, 'x')).replaceAll(folder, 'DIR');
  assert.is(
    said(join(folder, 'no', 'file')),
    'not_writable: cannot write DIR/no/file: it does not exist',
  );
  mkdirSync(join(folder, 'dir'));
  assert.is(said(join(folder, 'dir')), 'not_writable: cannot write DIR/dir: it is a directory');
  symlinkSync('/dev/null', join(folder, 'null'));
  assert.is(said(join(folder, 'null')), 'not_writable: cannot write DIR/null: it is not a file');
  rmSync(join(folder, 'null'));
  plant(join(folder, 'file'), '');
  assert.is(
    said(join(folder, 'file', 'x')),
    'not_writable: cannot write DIR/file/x: a part of its path is not a directory',
  );
  assert.match(said(join(folder, 'x'.repeat(256))), /: the name is too long$/);
  assert.equal(readdirSync(folder).sort(), ['dir', 'file']);
});

test('a folder without write permission keeps the old file', () => {
  const folder = scratch();
  const path = join(folder, 'file');
  plant(path, 'old', 0o644);
  chmodSync(folder, 0o555);
  const sentence = asNobody(() => told(() => writeWhole(path, 'new')));
  assert.is(sentence, `not_writable: cannot write ${path}: permission denied`);
  assert.is(readFileSync(path, 'utf8'), 'old');
  assert.equal(readdirSync(folder), ['file']);
});

test('a full disk keeps the old file, and no temporary file remains', () => {
  const folder = join(scratch(), 'tiny');
  mkdirSync(folder);
  if (!mountTiny(folder, 'size=64k')) return;
  const path = join(folder, 'file');
  const old = 'o'.repeat(30_000);
  writeWhole(path, old);
  assert.is(
    told(() => writeWhole(path, 'n'.repeat(200_020))),
    `disk_full: cannot write ${path}: no space left on the disk`,
  );
  assert.is(readFileSync(path, 'utf8'), old);
  assert.equal(readdirSync(folder), ['file']);
  writeWhole(path, 'small');
  assert.is(readFileSync(path, 'utf8'), 'small');
});

test('a read-only file system is refused', () => {
  const folder = join(scratch(), 'tiny');
  mkdirSync(folder);
  if (!mountTiny(folder, 'size=64k,ro')) return;
  assert.match(
    told(() => writeWhole(join(folder, 'x'), 'x')),
    /^not_writable: .*: the file system is read-only$/,
  );
});

test('temporary files of killed writers are removed after an hour, and nothing else', () => {
  const folder = scratch();
  const now = new Date();
  const old = new Date(now.getTime() - 3_700_000);
  const names = [
    '.a.json.0123456789ab.tmp',
    '.young.0123456789ab.tmp',
    'a.json',
    '.hidden',
    '.a.tmp',
    'a.0123456789ab.tmp',
  ];
  for (const name of names) plant(join(folder, name), '');
  for (const name of names.filter((each) => !each.includes('young')))
    utimesSync(join(folder, name), old, old);
  sweepStrays(folder, now);
  assert.equal(readdirSync(folder).sort(), names.slice(1).sort());
  sweepStrays(join(folder, 'none'), now);
});

test('a writer killed at any moment leaves the old file or the new one', async () => {
  const path = join(scratch(), 'file');
  let last = -1;
  for (let round = 0; round < 50; round += 1) {
    const said = await killedAfter(
      startRole('write-forever', [path, String(last + 1)]),
      round % 10,
    );
    const acknowledged = Number(said.trim().split('\n').at(-1));
    const { number, filling } = JSON.parse(readFileSync(path, 'utf8')) as {
      number: number;
      filling: string;
    };
    assert.is(filling.length, 200_000);
    // The next one may have been renamed before its writer could say so.
    assert.ok(
      number === acknowledged || number === acknowledged + 1,
      `${number} after ${acknowledged}`,
    );
    last = number;
  }
  const strays = readdirSync(dirname(path)).filter((name) => name !== 'file');
  for (const name of strays) assert.match(name, /^\.file\.[0-9a-f]{12}\.tmp$/);
  assert.ok(existsSync(path));
});

function writeForever(): void {
  const [path = '', first] = roleArgs;
  const filling = 'x'.repeat(200_000);
  for (let number = Number(first); ; number += 1) {
    writeWhole(path, JSON.stringify({ number, filling }));
    writeSync(1, `${number}\n`);
  }
}

if (role === 'write-forever') writeForever();
else test.run();
