import { spawnSync } from 'node:child_process';
import { mkdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import {
  isThere,
  makeFolder,
  namesIn,
  readIfThere,
  removeIfThere,
} from '@runner/common/files/read';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { refusal, told } from '../cli/refusal.ts';
import { asNobody } from './faulty-disk.ts';
import { plant, scratch } from './scratch.ts';

test('a reader gets the file, or nothing when there is none', () => {
  const folder = scratch();
  plant(join(folder, 'file'), 'text');
  assert.is(readIfThere(join(folder, 'file'), 4)?.toString(), 'text');
  assert.is(readIfThere(join(folder, 'none'), 4), undefined);
  assert.is(readIfThere(join(folder, 'none', 'none'), 4), undefined);
});

test('anything but a small regular file is refused without waiting for it', () => {
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

test('an unreadable file is refused', () => {
  const path = join(scratch(), 'file');
  plant(path, 'text', 0);
  const sentence = asNobody(() => told(() => readIfThere(path, 4)));
  assert.is(sentence, `file_unreadable: cannot read ${path}: permission denied`);
});

test('folders are created with their parents, and existing ones are left unchanged', () => {
  const folder = scratch();
  makeFolder(join(folder, 'a', 'b'));
  assert.is(statSync(join(folder, 'a')).mode & 0o777, 0o750);
  makeFolder(join(folder, 'a', 'b'), 0o700);
  assert.is(statSync(join(folder, 'a', 'b')).mode & 0o777, 0o750);
  plant(join(folder, 'file'), '');
  assert.is(refusal(() => makeFolder(join(folder, 'file'))).code, 'not_writable');
  assert.is(refusal(() => makeFolder(join(folder, 'file', 'x'))).code, 'not_writable');
  // mkdir answers ENOENT there, although the folder above exists.
  assert.is(refusal(() => makeFolder('/proc/runner/a')).code, 'not_writable');
  symlinkSync('nowhere', join(folder, 'dangling'));
  assert.is(refusal(() => makeFolder(join(folder, 'dangling', 'a'))).code, 'not_writable');
});

test('names are sorted; a missing folder has none', () => {
  const folder = scratch();
  for (const name of ['b', 'a', '.c', 'B']) plant(join(folder, name), '');
  assert.equal(namesIn(folder), ['.c', 'B', 'a', 'b']);
  assert.equal(namesIn(join(folder, 'none')), []);
  assert.is(refusal(() => namesIn(join(folder, 'a'))).code, 'file_unreadable');
});

test('removing a missing file succeeds', () => {
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

test.run();
