import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, shell, shellWord } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { refused, stateText } from './rekey.ts';
import { contentOf, headerOf, keyIds, rekey, rootWith, THREE, tokensIn } from './rekey-root.ts';

test('JSON and YAML hold the same fields', async () => {
  const root = rootWith(THREE);
  const json = await rekey(root, ['--json']);
  assert.equal([json.status, json.stderr], [0, '']);
  assert.equal(JSON.parse(json.stdout), {
    key: keyIds(root)[0],
    sealed: 3,
    secrets: 0,
    old_keys_dropped: 1,
    failed: [],
    resumed: false,
    dry_run: false,
  });
  const yaml = await rekey(root, ['-o', 'yaml']);
  assert.is(
    yaml.stdout,
    `key: ${keyIds(root)[0]}\nsealed: 3\nsecrets: 0\nold_keys_dropped: 1\nfailed: []\nresumed: false\ndry_run: false\n`,
  );
});

test('the second layer of --ckey is kept, and not given to others', async () => {
  const root = rootWith(THREE, ['blog']);
  await rekey(root);
  assert.equal(
    Object.keys(THREE).map((app) => headerOf(root, app).alg),
    ['dir', 'A256GCMKW', 'dir'],
  );
  assert.equal(tokensIn(root), THREE);
});

test('an app without a token, and fields that this version does not know, stay as they are', async () => {
  const root = rootWith({ ...THREE, open: null });
  const open = stateText(root, 'open');
  const shop = join(root, 'state/shop.json');
  writeFileSync(
    shop,
    JSON.stringify({ ...JSON.parse(stateText(root, 'shop')), later: { a: [1, null] } }),
  );
  assert.is((await rekey(root)).status, 0);
  assert.is(stateText(root, 'open'), open);
  assert.equal(JSON.parse(stateText(root, 'shop')).later, { a: [1, null] });
  assert.equal(tokensIn(root), { ...THREE, open: null });
});

test('a root with a key and no token gets a new key', async () => {
  const root = rootWith({});
  const [old] = keyIds(root);
  const { status, stdout } = await rekey(root);
  assert.equal(
    [status, stdout],
    [0, `Re-encrypted 0 token(s) with the key ${keyIds(root)[0]}, 1 old key(s) removed\n`],
  );
  assert.is.not(keyIds(root)[0], old);
});

test('--dry-run names an app whose token does not open, with status 1', async () => {
  const root = rootWith(THREE);
  writeFileSync(join(root, 'state/blog.json'), '{');
  const before = contentOf(root);
  const { status, stdout, stderr } = await rekey(root, ['--dry-run']);
  assert.equal(
    [status, stdout, stderr],
    [
      1,
      '2 token(s) would be re-encrypted\n',
      `runner tokens rekey: blog: the state file ${root}/state/blog.json is not JSON (state_malformed)\n`,
    ],
  );
  assert.equal(contentOf(root), before);
});

test('a token that was altered after it was sealed with the new key keeps the old key as well', async () => {
  const root = rootWith(THREE);
  const path = join(root, 'state/api.json');
  const state = JSON.parse(stateText(root, 'api'));
  const value: string = state.state.repohost_token;
  state.state.repohost_token = `${value.slice(0, -4)}AAAA`;
  writeFileSync(path, JSON.stringify(state));
  const { status, stderr } = await rekey(root);
  assert.equal(
    [status, stderr, keyIds(root).length],
    [1, "runner tokens rekey: api: the stored token of 'api' is damaged (token_corrupt)\n", 2],
  );
});

test('progress is printed every hundred apps', async () => {
  const many = Object.fromEntries(
    Array.from({ length: 250 }, (_, n) => [`app${n}`, `token-number-${n}`]),
  );
  const root = rootWith(many);
  const { status, stderr } = await rekey(root);
  assert.equal(
    [status, stderr],
    [0, 'runner tokens rekey: 100 of 250 apps\nrunner tokens rekey: 200 of 250 apps\n'],
  );
  assert.equal(tokensIn(root), many);
});

test('a copy of the keys that a killed command left is removed', async () => {
  const root = rootWith(THREE);
  const stray = join(root, '.mkey.0123456789ab.tmp');
  writeFileSync(stray, readFileSync(join(root, 'mkey')), { mode: 0o600 });
  writeFileSync(join(root, '.mkey.backup'), 'mine');
  await rekey(root);
  const files = contentOf(root);
  assert.not.ok('.mkey.0123456789ab.tmp' in files);
  assert.is(files['.mkey.backup']?.slice(5), 'mine');
});

test('the key of a backup as a further line opens its state files, and rekey drops it again', async () => {
  const root = rootWith(THREE);
  const path = join(root, 'mkey');
  const backup = { key: readFileSync(path, 'utf8'), shop: stateText(root, 'shop') };
  assert.is((await rekey(root)).status, 0);
  writeFileSync(join(root, 'state/shop.json'), backup.shop);
  const lost = await run('runner-tokens', ['list'], { root });
  assert.match(lost.stderr, /^runner tokens list: shop: .* \(mkey_unknown\)\n$/);
  writeFileSync(path, readFileSync(path, 'utf8') + backup.key);
  assert.equal(tokensIn(root), THREE);
  const { status, stdout } = await rekey(root, ['--json']);
  const { sealed, old_keys_dropped } = JSON.parse(stdout);
  assert.equal([status, sealed, old_keys_dropped], [0, 1, 1]);
  assert.equal(tokensIn(root), THREE);
});

test('a write-protected RUNNER_MKEY_FILE is left alone, one that is not is replaced', async () => {
  const root = rootWith(THREE);
  const path = join(temporaryFolder('keys'), 'key');
  renameSync(join(root, 'mkey'), path);
  chmodSync(path, 0o400);
  const env = { RUNNER_MKEY_FILE: path };
  const key = readFileSync(path, 'utf8');
  await refused(
    root,
    `the master key is write-protected: to replace it, run chmod 600 ${shellWord(path)} (not_writable)`,
    env,
  );
  assert.is(readFileSync(path, 'utf8'), key);
  chmodSync(path, 0o600);
  assert.is((await rekey(root, [], { env })).status, 0);
  assert.is.not(readFileSync(path, 'utf8'), key);
  assert.not.ok('mkey' in contentOf(root));
  renameSync(path, join(root, 'mkey'));
  assert.equal(tokensIn(root), THREE);
});

const alone = process.getuid?.() === 0 ? test : test.skip;

alone('a key on a read-only file system is refused and nothing changes', async () => {
  const root = rootWith(THREE);
  const folder = temporaryFolder('keys');
  renameSync(join(root, 'mkey'), join(folder, 'key'));
  const before = contentOf(root);
  const { status, stdout, stderr } = await shell(
    `exec unshare -m sh -c 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && exec runner-tokens rekey' sh ${shellWord(folder)}`,
    { root, env: { RUNNER_MKEY_FILE: join(folder, 'key') } },
  );
  assert.equal(
    [status, stdout, stderr],
    [
      1,
      '',
      `runner tokens rekey: cannot replace the master key in ${folder}/key: the file system is read-only (not_writable)\n`,
    ],
  );
  assert.equal(contentOf(root), before);
});

alone('on a full disk it ends with one sentence, every token opens, and it can go on', async () => {
  const root = rootWith(THREE);
  const disk = temporaryFolder('disk');
  for (const room of [0, 4, 8]) {
    const out = join(temporaryFolder('out'), 'root');
    mkdirSync(out);
    const { stdout, stderr } = await shell(
      `exec unshare -m sh -c '
        mount -t tmpfs -o size=1m,mode=755 tmpfs "$1" && cp -a "$2"/. "$1"/ || exit 9
        dd if=/dev/zero of="$1/room" bs=1k count=$4 2>/dev/null
        dd if=/dev/zero of="$1/full" bs=4k 2>/dev/null; rm "$1/room"
        runner-tokens rekey --root "$1"; echo "status $?"
        rm "$1/full"; cp -a "$1"/. "$3"/' sh ${shellWord(disk)} ${shellWord(root)} ${shellWord(out)} ${room}`,
    );
    // With a page to spare it may come through.
    const full =
      /^runner tokens rekey: cannot write .+: no space left on the disk \(disk_full\)\n$/.test(
        stderr,
      );
    assert.match(stdout, full ? /^status 1\n$/ : /status 0\n$/, `${room}: ${stderr}`);
    assert.ok(full || room > 0);
    assert.equal(tokensIn(out), THREE);
    assert.is((await rekey(out)).status, 0);
    assert.equal(tokensIn(out), THREE);
    assert.is(keyIds(out).length, 1);
  }
});

test.run();
