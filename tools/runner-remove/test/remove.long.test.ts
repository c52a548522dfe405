import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { auditLog, contentOf, newRoot, newServer, remove } from './server.ts';

test('a plain file among the instances is no instance', async () => {
  const root = await newRoot();
  mkdirSync(join(root, 'apps/shop/instances'), { recursive: true });
  writeFileSync(join(root, 'apps/shop/instances/notes.txt'), 'x');
  const { status, stdout, stderr } = await remove(root, ['shop', '--yes']);
  assert.equal([status, stdout, stderr], [0, 'Removed shop\n', '']);
  assert.not.ok(existsSync(join(root, 'apps/shop')));
});

test('JSON and YAML say what was kept', async () => {
  const root = await newRoot();
  const json = await remove(root, ['shop', '-y', '--json']);
  assert.equal([json.status, json.stdout, json.stderr], [0, '{"app":"shop","kept":[]}\n', '']);
  const yaml = await remove(root, ['blog', '-y', '-o', 'yaml']);
  assert.equal([yaml.status, yaml.stdout], [0, 'app: blog\nkept: []\n']);
});

test('wrong usage is reported in clap’s words', async () => {
  const root = await newRoot();
  for (const [args, sentence] of [
    [
      ['--yes'],
      'the following required arguments were not provided: <APP>; usage: runner remove [OPTIONS] <APP>',
    ],
    [['shop', 'blog', '--yes'], "unexpected argument 'blog' found"],
    [['shop', '--quiet'], "unexpected argument '--quiet' found"],
  ] as const) {
    const { status, stderr } = await remove(root, args);
    assert.equal([status, stderr], [2, `error: ${sentence}\n`]);
  }
});

test('a state file that cannot be read is no app that can be removed', async () => {
  const root = await newRoot();
  writeFileSync(join(root, 'state/shop.json'), '{');
  const { status, stderr } = await remove(root, ['shop', '--yes']);
  assert.equal(
    [status, stderr],
    [1, `runner remove: the state file ${root}/state/shop.json is not JSON (state_malformed)\n`],
  );
  assert.ok(existsSync(join(root, 'state/shop.json')));
});

test('while a deploy holds the lock the removal is refused with 75, naming who holds it', async () => {
  const root = await newRoot();
  const lock = join(root, 'locks/shop.lock');
  const about = '{"pid":%s,"command":"deploy","since":"2026-01-02T03:04:05.678Z"}';
  const hold = `exec 9>>"$0"; flock 9; printf '${about}' "$$" > "$0"; echo held; exec cat`;
  const holder = spawn('sh', ['-c', hold, lock], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(holder.stdout, 'data');
  try {
    const before = contentOf(root);
    const { status, stdout, stderr } = await remove(root, ['shop', '--yes', '--json']);
    const { error, message } = JSON.parse(stdout);
    assert.equal([status, error, stderr], [75, 'locked', `runner remove: ${message} (locked)\n`]);
    assert.match(
      message,
      /^'shop' is busy: deploy, at fetch after .*, begun by process \d+; see: runner status shop$/,
    );
    assert.equal(contentOf(root), before);
  } finally {
    holder.stdin.end();
    await once(holder, 'close');
  }
  assert.is((await remove(root, ['shop', '--yes'])).status, 0);
});

test('--purge removes shared files and deploy logs as well, the audit log stays', async () => {
  const server = await newServer();
  const { root } = server;
  const log = auditLog(root);
  const { status, stdout, stderr } = await remove(root, ['shop', '--yes', '--purge']);
  assert.equal([status, stdout, stderr], [0, 'Removed shop\n', '']);
  assert.is(await server.page(), null);
  assert.is(auditLog(root), log);
  const left = Object.keys(contentOf(root)).filter((path) => path.includes('shop'));
  assert.equal(left, []);
  await server.close();
});

test('an app that cannot be stopped stays registered with status 1, and --force removes it', async () => {
  const server = await newServer();
  const { root } = server;
  const release = realpathSync(join(root, 'apps/shop/instances/default/current'));
  const deployFile = join(root, 'apps/shop/files', `${basename(release)}.deploy.yml`);
  writeFileSync(deployFile, 'start: { type: command, run: "true" }\nstop: "echo no; exit 3"\n');
  const kept = () => [join(root, 'state/shop.json'), join(release, 'VERSION')].map(existsSync);
  const refused = await remove(root, ['shop', '--yes', '--json']);
  const message =
    "default could not be stopped: stop: `echo no; exit 3` ended with status 3; 'shop' stays " +
    'registered: fix it or stop it manually, then remove again, or use --force';
  assert.is(refused.stderr, `runner remove: ${message} (stop_failed)\n`);
  assert.is(refused.status, 1);
  assert.equal(JSON.parse(refused.stdout), { error: 'stop_failed', message });
  assert.equal(kept(), [true, true]);
  const forced = await remove(root, ['shop', '--yes', '--purge', '--force']);
  const note =
    'runner remove: default could not be stopped: stop: `echo no; exit 3` ended with status 3\n';
  assert.equal([forced.status, forced.stdout, forced.stderr], [0, 'Removed shop\n', note]);
  assert.equal(kept(), [false, false]);
  await server.close();
});

test('an app whose release is gone can be removed', async () => {
  const root = await newRoot();
  // A release that was damaged by hand: the state names it, it is not there.
  const path = join(root, 'state/shop.json');
  const state = JSON.parse(readFileSync(path, 'utf8'));
  const current = {
    version: 'v1',
    commit: 'c',
    release: '20260101T000000Z-abc',
    deployed_at: '2026-01-01T00:00:00.000Z',
    deploy_id: 'd',
  };
  writeFileSync(path, JSON.stringify({ ...state, instances: { default: { current } } }));
  const { status, stdout, stderr } = await remove(root, ['shop', '--yes']);
  assert.equal([status, stdout, stderr], [0, 'Removed shop\n', '']);
  assert.not.ok(existsSync(path));
});

test.run();
