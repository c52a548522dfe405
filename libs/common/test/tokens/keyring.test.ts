import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { mkeyFile } from '@runner/common/tokens/key-file';
import { createKeyring, readKeyring, requireKeyring } from '@runner/common/tokens/keyring';
import { shellWord } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { told } from '../cli/refusal.ts';
import { freshRoot, plant, scratch } from '../files/scratch.ts';

const KEY = Buffer.alloc(32, 7).toString('base64url');
const OLD = Buffer.alloc(32, 8).toString('base64url');

test('the first key is created in a file that only its owner can read', () => {
  const paths = freshRoot();
  const [key, ...older] = createKeyring(paths, {});
  assert.is(statSync(paths.mkey).mode & 0o7777, 0o600);
  assert.match(readFileSync(paths.mkey, 'latin1'), /^[A-Za-z0-9_-]{43}\n$/);
  assert.is(key.bytes.length, 32);
  assert.match(key.kid, /^m_[0-9a-f]{8}$/);
  assert.equal(older, []);
  assert.equal(readKeyring(paths, {}), [key]);
});

test('two first keys are never the same', () => {
  const one = createKeyring(freshRoot(), {});
  const two = createKeyring(freshRoot(), {});
  assert.not.ok(one[0].bytes.equals(two[0].bytes));
});

test('the name of a key reveals nothing but which key it is', () => {
  const paths = freshRoot();
  plant(paths.mkey, `${KEY}\n`);
  // HMAC-SHA256 with 32 bytes of 7 over "runner/kid/v1", computed with openssl.
  assert.is(requireKeyring(paths, {})[0].kid, 'm_64bf4a2a');
});

test('keys are one per line, the current one first', () => {
  const paths = freshRoot();
  for (const text of [`${KEY}\n${OLD}\n`, `${KEY}\n${OLD}`, `\n  ${KEY}\r\n\n${OLD}\r\n`]) {
    plant(paths.mkey, text);
    const bytes = requireKeyring(paths, {}).map((key) => key.bytes[0]);
    assert.equal(bytes, [7, 8]);
  }
});

test('without a key file there is no keyring, and the error names the file to restore', () => {
  const paths = freshRoot();
  assert.is(readKeyring(paths, {}), undefined);
  assert.is(
    told(() => requireKeyring(paths, {})),
    `mkey_missing: there is no master key in ${paths.mkey}: restore it from your backup`,
  );
});

test('a key that others can read is refused, with the fixing command', () => {
  const paths = freshRoot();
  plant(paths.mkey, `${KEY}\n`);
  for (const mode of [0o640, 0o604, 0o620, 0o601, 0o666, 0o777]) {
    chmodSync(paths.mkey, mode);
    assert.is(
      told(() => readKeyring(paths, {})),
      `mkey_exposed: others may read the master key: run chmod 600 ${shellWord(paths.mkey)}`,
    );
  }
  for (const mode of [0o600, 0o400]) {
    chmodSync(paths.mkey, mode);
    assert.is(readKeyring(paths, {})?.length, 1);
  }
});

test('a file without keys is refused without showing its content', () => {
  const paths = freshRoot();
  const malformed = `mkey_malformed: ${paths.mkey} does not contain 32-byte keys in base64url, one per line`;
  for (const text of [
    'secret',
    KEY.slice(1),
    `${KEY}A`,
    `${KEY}=`,
    `${KEY.slice(0, -1)}\u00e9`,
    `${KEY}\nx\n`,
    `${KEY} ${OLD}`,
    `# a comment\n${KEY}`,
    Buffer.alloc(32, 7),
    `{"k":"${KEY}"}`,
  ]) {
    plant(paths.mkey, text);
    assert.is(
      told(() => readKeyring(paths, {})),
      malformed,
    );
  }
  for (const text of ['', '\n', ' \n\r\n']) {
    plant(paths.mkey, text);
    assert.is(
      told(() => readKeyring(paths, {})),
      `mkey_malformed: ${paths.mkey} is empty`,
    );
  }
});

test('a key that is not canonical base64url is refused', () => {
  const paths = freshRoot();
  const last = KEY.at(-1) as string;
  plant(paths.mkey, KEY.slice(0, -1) + String.fromCharCode(last.charCodeAt(0) + 1));
  assert.match(
    told(() => readKeyring(paths, {})),
    /^mkey_malformed: /,
  );
});

test('only small regular files are read', () => {
  const paths = freshRoot();
  plant(join(paths.root, 'elsewhere'), KEY);
  symlinkSync('elsewhere', paths.mkey);
  assert.is(
    told(() => readKeyring(paths, {})),
    `file_unreadable: cannot read ${paths.mkey}: it is a symbolic link`,
  );
  const folder = freshRoot();
  mkdirSync(folder.mkey, { recursive: true });
  assert.is(
    told(() => readKeyring(folder, {})),
    `file_unreadable: cannot read ${folder.mkey}: it is not a file`,
  );
  const big = freshRoot();
  plant(big.mkey, `${KEY}\n`.repeat(2000));
  assert.is(
    told(() => readKeyring(big, {})),
    `file_unreadable: cannot read ${big.mkey}: it is larger than 65536 bytes`,
  );
});

test('the systemd credential has precedence over RUNNER_MKEY_FILE, and that over the root', () => {
  const paths = freshRoot();
  const folder = scratch();
  const credential = join(folder, 'runner-mkey');
  const env = { CREDENTIALS_DIRECTORY: folder, RUNNER_MKEY_FILE: join(folder, 'named') };
  assert.is(mkeyFile(paths, {}), paths.mkey);
  assert.is(mkeyFile(paths, { RUNNER_MKEY_FILE: '' }), paths.mkey);
  assert.is(mkeyFile(paths, env), env.RUNNER_MKEY_FILE);
  plant(credential, `${KEY}\n`);
  assert.is(mkeyFile(paths, env), credential);
  assert.is(mkeyFile(paths, { CREDENTIALS_DIRECTORY: folder }), credential);
});

test('the modes that systemd shows of a credential do not matter', () => {
  const folder = scratch();
  plant(join(folder, 'runner-mkey'), `${KEY}\n`);
  chmodSync(join(folder, 'runner-mkey'), 0o440);
  assert.is(requireKeyring(freshRoot(), { CREDENTIALS_DIRECTORY: folder }).length, 1);
  assert.is(requireKeyring(freshRoot(), { CREDENTIALS_DIRECTORY: `${folder}/` }).length, 1);
});

test('the first key is made where RUNNER_MKEY_FILE says', () => {
  const paths = freshRoot();
  const file = join(scratch(), 'keys', 'runner');
  createKeyring(paths, { RUNNER_MKEY_FILE: file });
  assert.is(statSync(file).mode & 0o7777, 0o600);
  assert.is(statSync(dirname(file)).mode & 0o7777, 0o750);
  assert.is(readKeyring(paths, {}), undefined);
});

test.run();
