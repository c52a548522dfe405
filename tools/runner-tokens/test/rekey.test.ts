import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { noteStarting, setSecrets } from '@runner/common/app-secrets/change';
import { keepDatabaseKey } from '@runner/common/app-secrets/database-key';
import { openSecrets } from '@runner/common/app-secrets/open';
import type { Io } from '@runner/common/foundation/io';
import { pathsOf } from '@runner/common/foundation/paths';
import { Secret } from '@runner/common/secrets/secret';
import { shellWord } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { refused, stateText } from './rekey.ts';
import { contentOf, headerOf, keyIds, rekey, rootWith, THREE, tokensIn } from './rekey-root.ts';

test('every token is sealed with a new key, the old key is dropped, and nothing else changes', async () => {
  const root = rootWith(THREE);
  const [old] = keyIds(root);
  const before = JSON.parse(stateText(root, 'shop'));
  const { status, stdout, stderr } = await rekey(root);
  const [key, ...older] = keyIds(root);
  assert.equal(
    [status, stdout, stderr],
    [0, `Re-encrypted 3 token(s) with the key ${key}, 1 old key(s) removed\n`, ''],
  );
  assert.is.not(key, old);
  assert.equal(older, []);
  assert.equal(tokensIn(root), THREE);
  const after = JSON.parse(stateText(root, 'shop'));
  assert.is(headerOf(root, 'shop').kid, key);
  assert.is.not(after.state.repohost_token, before.state.repohost_token);
  assert.ok(after.updated_at > before.updated_at);
  const rest = { state: null, updated_at: null };
  assert.equal({ ...after, ...rest }, { ...before, ...rest });
  const files = contentOf(root);
  assert.equal(Object.keys(files), [
    'mkey',
    'state/',
    'state/api.json',
    'state/blog.json',
    'state/shop.json',
  ]);
  assert.match(files.mkey ?? '', /^0600 [A-Za-z0-9_-]{43}\n$/);
});

test('--dry-run says what would be done and changes nothing', async () => {
  const root = rootWith({ ...THREE, open: null });
  const before = contentOf(root);
  const { status, stdout, stderr } = await rekey(root, ['--dry-run']);
  assert.equal([status, stdout, stderr], [0, '3 token(s) would be re-encrypted\n', '']);
  const json = await rekey(root, ['--dry-run', '--json']);
  assert.equal(JSON.parse(json.stdout), {
    key: null,
    sealed: 3,
    secrets: 0,
    old_keys_dropped: 0,
    failed: [],
    resumed: false,
    dry_run: true,
  });
  assert.equal(contentOf(root), before);
  const paths = pathsOf(root);
  const io = { env: {}, uid: 0, pid: process.pid, now: () => new Date(), stderr: {} };
  const server = { io: io as unknown as Io, paths };
  const mode = { name: 'MODE', instance: '*', value: new Secret('one'), plain: false };
  setSecrets(server, 'shop', [mode]);
  noteStarting(server, 'shop', ['a'], openSecrets(paths, {}, 'shop'));
  const counted = JSON.parse((await rekey(root, ['--dry-run', '--json'])).stdout).secrets;
  assert.equal([counted, JSON.parse((await rekey(root, ['--json'])).stdout).secrets], [2, 2]);
});

test("--dry-run tries the key of the database's backups too", async () => {
  const root = rootWith(THREE);
  const paths = pathsOf(root);
  const io = { env: {}, uid: 0, pid: process.pid, now: () => new Date(), stderr: {} };
  keepDatabaseKey({ io: io as unknown as Io, paths }, 'shop', new Secret('a key'));
  const file = paths.secrets('shop');
  const text = readFileSync(file, 'utf8');
  const problem = "the key of the database's backups of 'shop' is damaged";
  for (const [from, to, why] of [
    [/("database_key": ".*)..."/, '$1AAA"', problem],
    [/"database_key": ".*"/, '"database_key": 5', `the file ${file} has a malformed section`],
  ] as const) {
    writeFileSync(file, text.replace(from, to));
    const { status, stderr } = await rekey(root, ['--dry-run']);
    assert.equal([status, stderr.includes(`runner tokens rekey: shop: ${why}`)], [1, true], stderr);
  }
});

test('an app that cannot be opened keeps the old key, is named, and hides no other', async () => {
  const root = rootWith(THREE);
  const [old] = keyIds(root);
  const good = stateText(root, 'blog');
  writeFileSync(join(root, 'state/blog.json'), '{');
  const { status, stdout, stderr } = await rekey(root);
  const [key, ...older] = keyIds(root);
  assert.equal(older, [old]);
  assert.equal(
    [status, stdout, stderr],
    [
      1,
      `Re-encrypted 2 token(s) with the key ${key}, the old key stays\n`,
      `runner tokens rekey: blog: the state file ${root}/state/blog.json is not JSON (state_malformed)\n`,
    ],
  );
  // The file comes back from a backup: its token still opens, and the next run finishes.
  writeFileSync(join(root, 'state/blog.json'), good);
  assert.equal(tokensIn(root), THREE);
  const again = await rekey(root, ['--json']);
  assert.equal(
    [again.status, again.stderr],
    [0, 'runner tokens rekey: an earlier rekey was interrupted: continuing it with its key\n'],
  );
  const { sealed, old_keys_dropped, resumed } = JSON.parse(again.stdout);
  assert.equal([sealed, old_keys_dropped, resumed], [1, 1, true]);
  assert.equal(keyIds(root), [key]);
  assert.equal(tokensIn(root), THREE);
});

test('without a master key, or with one that is exposed or none, nothing is done', async () => {
  const missing = rootWith(THREE);
  rmSync(join(missing, 'mkey'));
  await refused(
    missing,
    `there is no master key in ${missing}/mkey: restore it from your backup (mkey_missing)`,
  );
  const empty = rootWith({});
  rmSync(join(empty, 'mkey'), { force: true });
  await refused(
    empty,
    'there is no master key yet: storing the first token creates it (mkey_missing)',
  );
  const exposed = rootWith(THREE);
  chmodSync(join(exposed, 'mkey'), 0o640);
  await refused(
    exposed,
    `others may read the master key: run chmod 600 ${shellWord(`${exposed}/mkey`)} (mkey_exposed)`,
  );
  const malformed = rootWith(THREE);
  writeFileSync(join(malformed, 'mkey'), 'x\n');
  await refused(
    malformed,
    `${malformed}/mkey does not contain 32-byte keys in base64url, one per line (mkey_malformed)`,
  );
});

test("systemd's credential is a copy: it is never replaced", async () => {
  const root = rootWith(THREE);
  const folder = temporaryFolder('credentials');
  const path = join(folder, 'runner-mkey');
  renameSync(join(root, 'mkey'), path);
  const key = readFileSync(path, 'utf8');
  await refused(
    root,
    `the master key in ${path} is a copy that systemd made: unset CREDENTIALS_DIRECTORY and set RUNNER_MKEY_FILE to the original file (not_writable)`,
    { CREDENTIALS_DIRECTORY: folder },
  );
  assert.is(readFileSync(path, 'utf8'), key);
});

test.run();
