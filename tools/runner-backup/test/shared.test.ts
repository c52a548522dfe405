/** Shared files in a backup, whatever their names are and whatever an app does meanwhile. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { RECIPIENT } from '@runner/testing/age-key';
import { asNobody, run, shell } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { backUp, IN_ROOT, identity, makeRoot } from './shared.ts';

test('files that cannot be saved are named on stderr, each on one escaped line', async () => {
  const { root, shared } = await makeRoot();
  spawnSync('mkfifo', [join(shared, 'pipe\n\x1b[31m')]);
  // The path of a socket has at most 107 bytes.
  const before = process.cwd();
  process.chdir(shared);
  const socket = createServer().listen('socket');
  process.chdir(before);
  const deep = join(shared, ...Array.from({ length: 230 }, () => 'd'));
  mkdirSync(deep, { recursive: true });
  writeFileSync(join(shared, 'file'), '');
  mkdirSync(join(root, 'apps/shop--pr-7/instances/default/shared'), { recursive: true });
  const { status, stdout, stderr, to } = await backUp(root, '--json');
  socket.close();
  assert.is(status, 0);
  const lines = stderr.trimEnd().split('\n');
  const said = (path: string, why: string) =>
    `runner backup: not saved: ${IN_ROOT}/${path}: ${why}`;
  assert.is(lines.length, 3, stderr);
  assert.match(lines[0] as string, /(\/d){186}: it is in more than 190 folders$/);
  assert.is(lines[1], said('pipe\\n\\x1b[31m', 'it is a named pipe'));
  assert.is(lines[2], said('socket', 'it is a socket'));
  const { not_saved, not_saved_count } = JSON.parse(stdout);
  assert.equal(not_saved.slice(1), [
    { path: `${IN_ROOT}/pipe\n\x1b[31m`, why: 'it is a named pipe' },
    { path: `${IN_ROOT}/socket`, why: 'it is a socket' },
  ]);
  assert.is(not_saved_count, 3);
  const fresh = join(root, '../fresh');
  assert.is((await run('runner-restore', [to, '--identity', identity], { root: fresh })).status, 0);
  assert.equal(readdirSync(join(fresh, IN_ROOT)), ['d', 'file']);
  assert.equal(readdirSync(join(fresh, 'apps')), ['shop']);
});

test('backups of databases are not in it, and are named', async () => {
  const { root } = await makeRoot();
  const folder = join(root, 'apps/shop/database');
  mkdirSync(folder, { recursive: true });
  assert.is((await backUp(root)).stderr, '');
  writeFileSync(join(folder, '3f9c2d7e.age'), '');
  const { stderr } = await backUp(root);
  assert.is(
    stderr,
    `runner backup: the backups of the database of shop are not in it: copy ${folder}\n`,
  );
});

const asOther = process.getuid?.() === 0 && spawnSync('setfacl', ['--version']).error === undefined;

(asOther ? test : test.skip)(
  "an app's files that runner may not read are named with the command that allows it",
  async () => {
    const { root, shared } = await makeRoot();
    const own = join(shared, 'a b');
    mkdirSync(own, { mode: 0o700 });
    spawnSync('chown', ['-R', '65534:65534', dirname(root)]);
    spawnSync('chown', ['12345:12345', own]);
    const args = `--with-shared --recipient ${RECIPIENT} --to '${root}/../b.age'`;
    const backUpOwn = () => shell(`${asNobody('runner-backup')} ${args}`, { root, cwd: '/' });
    const { status, stderr } = await backUpOwn();
    const fix = `setfacl -R -m u:65534:rX ${shared}`;
    const words = `cannot read ${IN_ROOT}/a b: allow it with sudo ${fix}, or leave out --with-shared`;
    assert.equal([status, stderr], [1, `runner backup: ${words} (file_unreadable)\n`]);
    assert.is((await shell(fix)).status, 0);
    assert.is((await backUpOwn()).status, 0);
  },
);

test('what an operator left beside the files of runner is not saved, and what is saved can be restored', async () => {
  const { root, shared } = await makeRoot();
  writeFileSync(join(shared, 'file'), '');
  mkdirSync(join(root, 'apps/shop/instances/old copy/shared'), { recursive: true });
  for (const path of ['apps/NOTES', 'apps/shop/instances/NOTES', 'state/shop copy.json'])
    writeFileSync(join(root, path), '{}');
  mkdirSync(join(root, 'spool/audit'), { recursive: true });
  const kept = 'spool/audit/20260504-3f9c2d7e-DeploySuccess-a%20b-7.jsonl';
  writeFileSync(join(root, kept), 'torn');
  const { status, stdout, stderr, to } = await backUp(root, '--json');
  assert.is(status, 0, stderr);
  const { apps, not_saved } = JSON.parse(stdout);
  const why = 'runner has no file of this name';
  const paths = ['state/shop copy.json', 'apps/shop/instances/old copy/shared'];
  assert.equal([apps, not_saved], [['shop'], paths.map((path) => ({ path, why }))]);
  const fresh = join(root, '../fresh');
  const restored = await run('runner-restore', [to, '--identity', identity], { root: fresh });
  assert.is(restored.status, 0, restored.stderr);
  assert.ok(existsSync(join(fresh, kept)));
});

test.run();
