import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { asNobody, run, shell, shellWord } from '@runner/testing/run';
import { findSecret } from '@runner/testing/secret-search';
import { temporaryFolder, tree } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { contentOf, newRoot, register, SHOP, TOKEN } from './root.ts';

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
/** Mounting in a namespace of one's own needs root, and not every container lets it. */
const canMount = isRoot && spawnSync('unshare', ['-m', 'true']).status === 0;

/** Says why the rest of a test is skipped. */
function leftOut(reason: string): void {
  process.stdout.write(`(left out: ${reason})\n`);
}

/**
 * Runs a script as root in a mount namespace of its own, so that what it mounts is gone with it.
 * `$1` is a folder to mount on, and a root on which `add` registers acme/shop with a token.
 */
function mounting(folder: string, script: string) {
  const add = `root=$1; add() { printf %s '${TOKEN}' | runner-add ${SHOP.join(' ')} --token - --root "$root" "$@"; }`;
  const text = `set -e; ${add}; ${script}`;
  return shell(`exec unshare -m sh -c ${shellWord(text)} sh ${shellWord(folder)}`);
}

test('a root below a file is refused', async () => {
  const file = join(temporaryFolder('add'), 'file');
  writeFileSync(file, 'content');
  const root = join(file, 'root');
  const { status, stdout, stderr } = await run('runner-add', [...SHOP, '--token', '-'], {
    root,
    stdin: TOKEN,
  });
  assert.equal(
    [status, stdout, stderr],
    [
      1,
      '',
      `runner add: cannot make the folder ${root}/locks: a part of its path is not a directory (not_writable)\n`,
    ],
  );
  assert.equal(tree(dirname(file)), { file: 'content' });
});

test('a file in the place of the root or of a folder in it is refused', async () => {
  for (const place of ['', 'locks', 'state']) {
    const root = newRoot();
    if (place !== '') mkdirSync(root);
    writeFileSync(join(root, place), 'content');
    const before = tree(dirname(root));
    const { status, stderr } = await run('runner-add', [...SHOP, '--public'], { root });
    assert.is(status, 1, place);
    assert.match(stderr, /^runner add: cannot [^\n]+ \((not_writable|file_unreadable)\)\n$/, place);
    const after = tree(dirname(root));
    delete after['root/locks/'];
    delete after['root/locks/registry.lock'];
    assert.equal(after, before, place);
  }
});

test('a user who has chosen no root hears how to, where runner is not installed', async () => {
  if (!isRoot || existsSync('/opt/runner')) return leftOut('it needs root, and no /opt/runner');
  const typed = `env -u RUNNER_ROOT ${asNobody('runner-add')} ${SHOP.join(' ')} --public`;
  const { status, stderr } = await shell(typed);
  const advice = 'to use a folder of your own: export RUNNER_ROOT=~/runner';
  const what = 'cannot make the folder /opt/runner/locks: permission denied';
  assert.equal([status, stderr], [1, `runner add: ${what}; ${advice} (not_writable)\n`]);
  // Another file has nothing to do with the root.
  const cwd = temporaryFolder('add');
  writeFileSync(join(cwd, 'index.html'), 'Hello\n');
  const init = await shell(`env -u RUNNER_ROOT ${asNobody('runner-init')} --yes --no-prove`, {
    cwd,
  });
  assert.match(init.stderr, /cannot write \S+: permission denied \(not_writable\)\n$/);
});

test('a user without write access to the root is refused and changes nothing', async () => {
  if (!isRoot) return leftOut('running as another user needs root');
  const root = newRoot();
  await register(root, 'blog');
  const before = contentOf(root);
  const as = (text: string, options = {}) =>
    shell(`${asNobody('runner-add')} ${text}`, { root, stdin: TOKEN, ...options });
  const foreign = await as(`${SHOP.join(' ')} --token -`);
  assert.equal(
    [foreign.status, foreign.stdout, foreign.stderr],
    [
      1,
      '',
      `runner add: cannot make the folder ${root}/locks: permission denied; use: sudo runner add --root ${shellWord(root)} (not_writable)\n`,
    ],
  );
  assert.equal(contentOf(root), before);
  chownSync(root, 12_345, 12_345);
  const notRoots = await as(`${SHOP.join(' ')} --public`);
  // Root itself is refused there.
  const words = ` use: sudo -u '#12345' runner add ${SHOP.join(' ')} --public --root ${shellWord(root)} (`;
  assert.ok(notRoots.stderr.includes(words), notRoots.stderr);
  const mine = newRoot();
  await register(mine, 'blog');
  await shell('chown -R 65534 "$RUNNER_ROOT" && chown 0 "$RUNNER_ROOT/locks/registry.lock"', {
    root: mine,
  });
  const { stderr } = await as(`${SHOP.join(' ')} --public`, { root: mine });
  const advice = 'it belongs to user 0: runner doctor shows how to fix that (not_writable)';
  assert.ok(stderr.endsWith(`registry.lock: permission denied; ${advice}\n`), stderr);
  for (const mode of ['755', '700']) {
    await shell(`chown 0 "$RUNNER_ROOT/locks" && chmod ${mode} "$RUNNER_ROOT/locks"`, {
      root: mine,
    });
    const closed = await as(`${SHOP.join(' ')} --public`, { root: mine });
    const words = `permission denied; ${mode === '755' ? 'it' : join(mine, 'locks')} belongs to user 0: `;
    assert.ok(closed.stderr.includes(words), closed.stderr);
  }
  const own = newRoot();
  const file = join(temporaryFolder('add'), 'token');
  writeFileSync(file, TOKEN, { mode: 0o600 });
  const closed = await as(`${SHOP.join(' ')} --token-file ${shellWord(file)}`, { root: own });
  assert.match(
    closed.stderr,
    /cannot read \S+: permission denied; name - instead of the file, and add < \S+ \(file_unreadable\)/,
  );

  const parent = temporaryFolder('add');
  chmodSync(parent, 0o555);
  chownSync(parent, NOBODY, NOBODY);
  const below = await as(`${SHOP.join(' ')} --token - --root ${shellWord(`${parent}/root`)}`);
  assert.equal(
    [below.status, below.stdout, below.stderr],
    [
      1,
      '',
      `runner add: cannot make the folder ${parent}/root/locks: permission denied (not_writable)\n`,
    ],
  );
  assert.equal(tree(parent), {});
});

test('a read-only file system is refused, and its apps can still be listed', async () => {
  if (!canMount) return leftOut('mounting needs root');
  const root = newRoot();
  await register(root, 'blog');
  const before = tree(root, { modes: true });
  const { status, stdout, stderr } = await mounting(
    root,
    'mount --bind "$1" "$1"; mount -o remount,ro,bind "$1"; runner-list --root "$1" >/dev/null; add',
  );
  assert.equal(
    [status, stdout, stderr],
    [
      1,
      '',
      `runner add: cannot open the lock ${root}/locks/registry.lock: the file system is read-only (not_writable)\n`,
    ],
  );
  assert.equal(tree(root, { modes: true }), before);
});

test('a full disk is reported, and the app is not half registered', async () => {
  if (!canMount) return leftOut('mounting needs root');
  const folder = temporaryFolder('full');
  // What a failed attempt may leave is the lock's file alone; after making room the same works.
  const { status, stdout, stderr } = await mounting(
    folder,
    `mount -t tmpfs -o size=64k,mode=0755 none "$1"
     runner-add --repo acme/blog --branch main --public --root "$1"
     head -c 100000 /dev/zero > "$1/fill" 2>/dev/null || true
     before=$(cd "$1" && find . -not -path "./locks*" | sort)
     set +e; add --json; echo "status $?"; set -e
     [ "$before" = "$(cd "$1" && find . -not -path "./locks*" | sort)" ] && echo unchanged
     rm "$1/fill"
     add`,
  );
  const lines = stdout.split('\n');
  assert.is(lines[0], 'Added blog (acme/blog, branch main, no token)');
  const { error, message } = JSON.parse(lines[1] ?? '');
  assert.is(error, 'disk_full');
  assert.match(message, /^cannot write .*: no space left on the disk$/);
  assert.equal(lines.slice(2, 4), ['status 1', 'unchanged']);
  assert.match(lines[4] ?? '', /^Added shop /);
  assert.is(stderr, `runner add: ${message} (disk_full)\n`);
  assert.is(status, 0);
  assert.equal(findSecret(stdout + stderr, TOKEN), []);
});

test.run();
