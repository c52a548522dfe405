import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { atExit } from '@runner/testing/cleanup';
import { contentOf, temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DAY, KEPT, newRoot, prune, put, releasesOf } from './root.ts';

test('a root without apps has nothing to prune, and the answer says so', async () => {
  const root = temporaryFolder('prune');
  const { status, stdout, stderr } = await prune(root);
  assert.equal([status, stdout, stderr], [0, `Nothing to prune: ${root} has no apps\n`, '']);
  assert.equal(JSON.parse((await prune(root, '--json')).stdout).apps, []);
});

test("--home also removes the app's HOME, of a named app only", async () => {
  const root = await newRoot();
  const home = join(root, 'apps/shop/home');
  mkdirSync(join(home, '.cache'), { recursive: true });
  symlinkSync(join(root, 'apps/shop/instances'), join(home, '.netrc'));
  const all = await prune(root, '--home');
  assert.equal([all.status, all.stdout], [2, '']);
  assert.match(all.stderr, "the argument '--home' needs <APP>");
  const would = await prune(root, 'shop', '--home', '--dry-run');
  assert.match(would.stdout, /^would remove apps\/shop\/home$/m);
  await prune(root, 'shop');
  assert.ok(existsSync(join(home, '.cache')));
  const { status, stdout } = await prune(root, 'shop', '--home', '--json');
  assert.is(status, 0);
  assert.ok(JSON.parse(stdout).apps[0].removed.includes('apps/shop/home'));
  assert.not(existsSync(home));
  assert.ok(existsSync(join(root, 'apps/shop/instances/default/shared/data')));
});

test('--dry-run names the same files and removes nothing', async () => {
  const root = await newRoot();
  const before = contentOf(join(root, 'apps'));
  const text = await prune(root, '--dry-run');
  assert.match(text.stdout, /^would remove apps\/shop\/releases\/r1$/m);
  assert.match(text.stdout, /^Would free [\d.]+ KiB$/m);
  const would = JSON.parse((await prune(root, 'shop', '--dry-run', '--json')).stdout);
  assert.equal(contentOf(join(root, 'apps')), before);
  const done = JSON.parse((await prune(root, 'shop', '--json')).stdout);
  assert.equal(would.apps[0].removed, done.apps[0].removed);
  assert.ok(would.freed === 0 && would.would_free > 0 && done.would_free === 0);
});

test('a release that a process works in stays', async () => {
  const root = await newRoot();
  const cwd = join(root, 'apps/shop/releases/r1');
  const worker = spawn('sleep', ['60'], { cwd, detached: true });
  atExit(() => worker.kill());
  await once(worker, 'spawn');
  await prune(root);
  assert.equal(releasesOf(root), ['r1', ...KEPT]);
  worker.kill();
});

test('of removed apps shared files and logs stay; an app whose state file was lost is not touched', async () => {
  const root = await newRoot();
  put(join(root, 'apps/gone/releases/r1/file'));
  put(join(root, 'apps/gone/instances/default/shared/data'));
  put(join(root, 'logs/deploys/gone/one.log'));
  put(join(root, 'apps/lost/releases/r1/file'));
  mkdirSync(join(root, 'apps/lost/instances/default'), { recursive: true });
  symlinkSync('../../releases/r1', join(root, 'apps/lost/instances/default/current'));
  const { stdout } = await prune(root);
  assert.match(stdout, /^gone \(removed\)/m);
  assert.not(existsSync(join(root, 'apps/gone/releases')));
  assert.ok(existsSync(join(root, 'apps/gone/instances/default/shared/data')));
  assert.ok(existsSync(join(root, 'logs/deploys/gone/one.log')));
  assert.ok(existsSync(join(root, 'apps/lost/releases/r1/file')));
});

test('old objects that nothing refers to leave the mirror', async () => {
  const root = await newRoot();
  const cwd = join(root, 'apps/shop/repo.git');
  const input = 'unused';
  const made = spawnSync('git', ['hash-object', '-w', '--stdin'], { cwd, input, encoding: 'utf8' });
  const id = made.stdout.trim();
  const object = join(cwd, 'objects', id.slice(0, 2), id.slice(2));
  utimesSync(object, DAY, DAY);
  assert.is((await prune(root, 'shop')).status, 0);
  assert.not(existsSync(object));
});

test.run();
