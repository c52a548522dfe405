import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  isThere,
  makeFolder,
  namesIn,
  readIfThere,
  removeIfThere,
  sweepStrays,
  writeWhole,
} from '../src/files.ts';
import { asNobody, mountTiny } from './faulty-disk.ts';
import { killedAfter, role, roleArgs, startRole } from './processes.ts';
import { refusal, told } from './refusal.ts';
import { plant, scratch } from './scratch.ts';

test('a file is written whole, and only its owner may read it', () => {
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

test('a new file gets the mode that is asked for, an existing one keeps its own', () => {
  const folder = scratch();
  writeWhole(join(folder, 'new'), 'x', 0o640);
  assert.is(statSync(join(folder, 'new')).mode & 0o7777, 0o640);
  chmodSync(join(folder, 'new'), 0o604);
  writeWhole(join(folder, 'new'), 'y', 0o640);
  assert.is(statSync(join(folder, 'new')).mode & 0o7777, 0o604);
});

test('a link in the place of a file is replaced, and its target is left alone', () => {
  const folder = scratch();
  plant(join(folder, 'target'), 'old');
  symlinkSync('target', join(folder, 'link'));
  writeWhole(join(folder, 'link'), 'new');
  assert.is(readFileSync(join(folder, 'target'), 'utf8'), 'old');
  assert.ok(lstatSync(join(folder, 'link')).isFile());
});

test('what cannot be written is refused, and nothing is left of the attempt', () => {
  const folder = scratch();
  const said = (path: string) => told(() => writeWhole(path, 'x')).replaceAll(folder, 'DIR');
  assert.is(
    said(join(folder, 'no', 'file')),
    'not_writable: cannot write DIR/no/file: it does not exist',
  );
  mkdirSync(join(folder, 'dir'));
  assert.is(said(join(folder, 'dir')), 'not_writable: cannot write DIR/dir: it is a directory');
  plant(join(folder, 'file'), '');
  assert.is(
    said(join(folder, 'file', 'x')),
    'not_writable: cannot write DIR/file/x: a part of its path is not a directory',
  );
  assert.match(said(join(folder, 'x'.repeat(256))), /: the name is too long$/);
  assert.equal(readdirSync(folder).sort(), ['dir', 'file']);
});

test('a folder that may not be written keeps the old file', () => {
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

test('a reader gets the file, or nothing when there is none', () => {
  const folder = scratch();
  plant(join(folder, 'file'), 'text');
  assert.is(readIfThere(join(folder, 'file'), 4)?.toString(), 'text');
  assert.is(readIfThere(join(folder, 'none'), 4), undefined);
  assert.is(readIfThere(join(folder, 'none', 'none'), 4), undefined);
});

test('what is not a small regular file is not read, and never waited for', () => {
  const folder = scratch();
  plant(join(folder, 'file'), 'text');
  symlinkSync('file', join(folder, 'link'));
  symlinkSync('gone', join(folder, 'dangling'));
  spawnSync('mkfifo', [join(folder, 'fifo')]);
  spawnSync('truncate', ['-s', '100G', join(folder, 'huge')]);
  const said = (name: string) =>
    told(() => readIfThere(join(folder, name), 3)).replaceAll(folder, 'DIR');
  const cannot = 'file_unreadable: cannot read DIR';
  assert.is(said('file'), `${cannot}/file: it is larger than 3 bytes`);
  assert.is(said('huge'), `${cannot}/huge: it is larger than 3 bytes`);
  assert.is(said('link'), `${cannot}/link: it is a symbolic link`);
  assert.is(said('dangling'), `${cannot}/dangling: it is a symbolic link`);
  assert.is(said('fifo'), `${cannot}/fifo: it is not a file`);
  assert.is(said('.'), `${cannot}: it is not a file`);
  assert.is(said('file/x'), `${cannot}/file/x: a part of its path is not a directory`);
  const device = told(() => readIfThere('/dev/zero', 3));
  assert.is(device, 'file_unreadable: cannot read /dev/zero: it is not a file');
});

test('a file that may not be read is refused', () => {
  const path = join(scratch(), 'file');
  plant(path, 'text', 0o600);
  chmodSync(dirname(path), 0o755);
  const sentence = asNobody(() => told(() => readIfThere(path, 4)));
  assert.is(sentence, `file_unreadable: cannot read ${path}: permission denied`);
});

test('folders are made with those above them, and existing ones are left as they are', () => {
  const folder = scratch();
  makeFolder(join(folder, 'a', 'b'));
  assert.is(statSync(join(folder, 'a')).mode & 0o777, 0o750);
  makeFolder(join(folder, 'a', 'b'), 0o700);
  assert.is(statSync(join(folder, 'a', 'b')).mode & 0o777, 0o750);
  plant(join(folder, 'file'), '');
  assert.is(refusal(() => makeFolder(join(folder, 'file'))).code, 'not_writable');
  assert.is(refusal(() => makeFolder(join(folder, 'file', 'x'))).code, 'not_writable');
});

test('names come sorted, none from a folder that is not there', () => {
  const folder = scratch();
  for (const name of ['b', 'a', '.c', 'B']) plant(join(folder, name), '');
  assert.equal(namesIn(folder), ['.c', 'B', 'a', 'b']);
  assert.equal(namesIn(join(folder, 'none')), []);
  assert.is(refusal(() => namesIn(join(folder, 'a'))).code, 'file_unreadable');
});

test('removing what is gone already is fine', () => {
  const folder = scratch();
  plant(join(folder, 'a'), '');
  removeIfThere(join(folder, 'a'));
  removeIfThere(join(folder, 'a'));
  removeIfThere(join(folder, 'a', 'b'));
  mkdirSync(join(folder, 'd'));
  assert.match(
    told(() => removeIfThere(join(folder, 'd'))),
    /^not_writable: cannot remove /,
  );
});

test('a dangling link is there as well', () => {
  const folder = scratch();
  symlinkSync('gone', join(folder, 'link'));
  assert.ok(isThere(join(folder, 'link')));
  assert.not.ok(isThere(join(folder, 'none')));
});

test('what killed writers left is swept after an hour, and nothing else', () => {
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

test('a writer that is killed at any moment leaves the old file or the new one', async () => {
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
