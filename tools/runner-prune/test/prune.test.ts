import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { atExit } from '@runner/testing/cleanup';
import { shell, shellWord } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { COMMIT, KEPT, newRoot, prune, releasesOf } from './root.ts';

const ALL = ['.tmp-dead', 'r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7', 'r8', 'r9'];

test('what no instance runs or can go back to goes, with killed builds and old logs', async () => {
  const root = await newRoot();
  const { status, stdout, stderr } = await prune(root, '--json');
  assert.equal([status, stderr], [0, '']);
  const { apps, freed } = JSON.parse(stdout);
  assert.equal(releasesOf(root), KEPT);
  assert.equal(readdirSync(join(root, 'apps/shop/files')), []);
  const logs = readdirSync(join(root, 'logs/deploys/shop'));
  assert.is(logs.length, 20);
  assert.not(logs.includes('log5.log'));
  assert.is(readFileSync(join(root, 'apps/shop/instances/default/shared/data'), 'utf8'), 'keep me');
  assert.ok(freed >= 400_000 && apps[0].freed === freed);
  assert.ok(apps[0].releases >= 500_000 && apps[0].total >= apps[0].releases + apps[0].mirror);
  assert.is(apps[0].removed.filter((path: string) => path.includes('/releases/')).length, 5);
});

const canMount = process.getuid?.() === 0 && spawnSync('unshare', ['-m', 'true']).status === 0;

(canMount ? test : test.skip)('files in an overlay, as of a container, are counted', async () => {
  const root = await newRoot();
  const made = temporaryFolder('overlay');
  const script = `set -e; cd ${shellWord(made)}; mkdir own seen; mount -t tmpfs own own; mkdir own/up own/work
mount -t overlay o -o lowerdir=${shellWord(root)},upperdir=own/up,workdir=own/work seen
exec runner-prune --dry-run --json --root "$PWD/seen"`;
  const { stdout, stderr } = await shell(`exec unshare -m sh -c ${shellWord(script)}`);
  assert.ok(JSON.parse(stdout).apps[0].releases >= 500_000, stderr);
});

(canMount ? test : test.skip)('what is mounted in a release keeps its files', async () => {
  const root = await newRoot();
  const script = `cd ${shellWord(root)}; mkdir 'a disk' apps/shop/releases/r1/data; echo precious > 'a disk/file'
mount --bind 'a disk' apps/shop/releases/r1/data; runner-prune shop; runner-doctor --offline
runner-remove shop --yes --purge`;
  const ended = await shell(`unshare -m sh -c ${shellWord(script)}`, { root });
  assert.is(readFileSync(join(root, 'a disk/file'), 'utf8'), 'precious\n');
  const [r1, mount] = ['', '/data'].map((each) => `${root}/apps/shop/releases/r1${each}`);
  const why = (path: string) =>
    `${path} cannot be removed: ${mount} is mounted there: unmount it first\n`;
  assert.ok(ended.stderr.includes(`runner prune: ${why(r1 as string)}`), ended.stderr);
  assert.ok(ended.stderr.includes(`runner remove: ${why(join(root, 'apps/shop'))}`), ended.stderr);
  assert.match(ended.stdout, /r1 is no longer needed but could not be removed\n +umount /);
  assert.equal(releasesOf(root), ['r1', ...KEPT]);
});

test('an app whose lock is held is skipped and named; asked for by name, the status is 75', async () => {
  const root = await newRoot();
  const lock = join(root, 'locks/shop.lock');
  const about = '{"pid":%s,"command":"deploy","since":"2026-11-01T00:00:00.000Z"}';
  const hold = `exec 9>>"$0"; flock 9; printf '${about}' "$$" > "$0"; echo held; exec sleep 60`;
  const holder = spawn('sh', ['-c', hold, lock]);
  atExit(() => holder.kill());
  await once(holder.stdout, 'data');
  const all = await prune(root);
  assert.is(all.status, 0);
  assert.match(all.stdout, /^skipped shop: 'shop' is busy: deploy/m);
  assert.is((await prune(root, 'shop')).status, 75);
  assert.equal(releasesOf(root), ALL);
  holder.kill();
});

test('after a killed deploy every release and its log stay', async () => {
  const deploying = {
    deploy_id: 'log1',
    pid: 999_999,
    started: '2026-11-01T00:00:00.000Z',
    boot_id: 'b',
    commit: COMMIT,
    version: 'v9',
    instance: 'default',
    stage: 'start',
  };
  const root = await newRoot({ deploying });
  assert.is((await prune(root)).status, 0);
  assert.equal(releasesOf(root), ALL.slice(1));
  assert.ok(existsSync(join(root, 'logs/deploys/shop/log1.log')));
});

test.run();
