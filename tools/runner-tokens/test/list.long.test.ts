import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shell } from '@runner/testing/run';
import { findSecret } from '@runner/testing/secret-search';
import { temporaryFolder, tree } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LINE, list, SECOND } from './list.ts';
import { changeSealed, fingerprint, rootWith, sealedOf, statePath, TOKEN } from './root.ts';

test('the largest group comes first, then the fingerprint decides; apps stand by name', async () => {
  const tokens = Array.from({ length: 5 }, (_, index) => `token-number-${index}`);
  const [first = '', ...others] = tokens;
  const apps = Object.fromEntries(others.map((token, index) => [`b${index}`, token]));
  const root = await rootWith({ ...apps, z: first, a: first });
  const { stdout } = await list(root, '--json');
  const sorted = others.map(fingerprint).sort();
  const groups = JSON.parse(stdout).tokens as { fingerprint: string; apps: string[] }[];
  assert.equal(
    groups.map((group) => group.fingerprint),
    [fingerprint(first), ...sorted],
  );
  assert.equal(groups[0]?.apps, ['a', 'z']);
});

/** Two tokens that are shown alike: 32 bits are shown, so some ten thousands of tries find them. */
function alike(): [string, string] {
  const seen = new Map<string, string>();
  for (let number = 0; ; number += 1) {
    const token = `token-${number}`;
    const shown = fingerprint(token);
    const other = seen.get(shown);
    if (other !== undefined) return [other, token];
    seen.set(shown, token);
  }
}

test('two tokens that are shown alike are still two groups', async () => {
  const [one, other] = alike();
  const root = await rootWith({ a: one, b: other, c: one });
  const { stdout } = await list(root);
  const shown = fingerprint(one);
  assert.is(fingerprint(other), shown);
  assert.is(stdout, `Tokens (2):\n${LINE}\n${shown} | 2 app(s) | a, c\n${shown} | 1 app(s) | b\n`);
});

test('without any app, or without a root, there are no tokens', async () => {
  for (const root of [temporaryFolder('tokens'), '/none/such']) {
    const { status, stdout, stderr } = await list(root);
    const missing = 'runner tokens list: the root /none/such does not exist\n';
    const noted = root === '/none/such' ? missing : '';
    assert.equal([status, stdout, stderr], [0, `Tokens (0):\n${LINE}\n`, noted]);
    assert.is((await list(root, '--json')).stdout, '{"count":0,"tokens":[]}\n');
  }
});

/** One way to damage the app `bad`, and what is printed about it. */
const DAMAGE: Readonly<Record<string, [(root: string) => void, string]>> = {
  'an altered token': [
    (root) => changeSealed(root, 'bad', (value) => `${value.slice(0, -4)}AAAA`),
    "the stored token of 'bad' is damaged (token_corrupt)",
  ],
  'a cut token': [
    (root) => changeSealed(root, 'bad', (value) => value.slice(0, 60)),
    "the stored token of 'bad' is damaged (token_corrupt)",
  ],
  'an algorithm that is not allowed': [
    (root) =>
      changeSealed(root, 'bad', (value) => {
        const header = Buffer.from('{"alg":"none","enc":"none"}').toString('base64url');
        return [header, ...value.split('.').slice(1)].join('.');
      }),
    "the stored token of 'bad' has an algorithm that is not allowed (token_corrupt)",
  ],
  'the token of another app': [
    (root) => changeSealed(root, 'bad', () => sealedOf(root, 'shop')),
    "the stored token of 'bad' was sealed for another app or field (token_wrong_app)",
  ],
  'a token that is no text': [
    (root) => changeSealed(root, 'bad', () => 5),
    'the state file ROOT/state/bad.json has a token that is not a text (state_malformed)',
  ],
  'a state file that is not JSON': [
    (root) => writeFileSync(statePath(root, 'bad'), '{"app":'),
    'the state file ROOT/state/bad.json is not JSON (state_malformed)',
  ],
  'the state file of a newer runner': [
    (root) => writeFileSync(statePath(root, 'bad'), '{"version":3}'),
    'the state file ROOT/state/bad.json was written by a newer runner (state_unsupported)',
  ],
  'a link in the place of the state file': [
    (root) => {
      rmSync(statePath(root, 'bad'));
      symlinkSync('shop.json', statePath(root, 'bad'));
    },
    'cannot read ROOT/state/bad.json: it is a symbolic link (file_unreadable)',
  ],
  'a folder in the place of the state file': [
    (root) => {
      rmSync(statePath(root, 'bad'));
      mkdirSync(statePath(root, 'bad'));
    },
    'cannot read ROOT/state/bad.json: it is not a file (file_unreadable)',
  ],
  'a FIFO in the place of the state file': [
    (root) => {
      rmSync(statePath(root, 'bad'));
      spawnSync('mkfifo', [statePath(root, 'bad')]);
    },
    'cannot read ROOT/state/bad.json: it is not a file (file_unreadable)',
  ],
};

for (const [what, [damage, sentence]] of Object.entries(DAMAGE)) {
  test(`${what} is reported on stderr, hides no other app, and makes the status 1`, async () => {
    const root = await rootWith({ bad: SECOND, shop: TOKEN });
    damage(root);
    const { status, stdout, stderr } = await list(root);
    assert.is(stdout, `Tokens (1):\n${LINE}\n${fingerprint(TOKEN)} | 1 app(s) | shop\n`);
    assert.is(stderr, `runner tokens list: bad: ${sentence.replace('ROOT', root)}\n`);
    assert.is(status, 1);
    const json = await list(root, '--json');
    assert.is(JSON.parse(json.stdout).count, 1);
    assert.is(json.status, 1);
  });
}

test('a token under a key that is not in the file is distinguished from a damaged one', async () => {
  const root = await rootWith({ shop: TOKEN });
  const other = await rootWith({ shop: TOKEN });
  writeFileSync(
    statePath(root, 'shop'),
    `${JSON.stringify({
      repo: 'acme/shop',
      branch: 'main',
      state: { repohost_token: sealedOf(other, 'shop') },
    })}\n`,
  );
  const { status, stderr } = await list(root);
  assert.is(
    stderr,
    "runner tokens list: shop: the stored token of 'shop' is sealed with a master key that is not in use (mkey_unknown)\n",
  );
  assert.is(status, 1);
});

test('a state file that cannot be read is named beside a lost master key', async () => {
  const root = await rootWith({ shop: TOKEN });
  rmSync(join(root, 'mkey'));
  writeFileSync(statePath(root, 'bad'), 'no JSON');
  const { status, stderr } = await list(root);
  assert.match(stderr, /runner tokens list: bad: the state file .+\/state\/bad.json is not JSON/);
  assert.match(stderr, /there is no master key .*\(mkey_missing\)\n$/);
  assert.is(status, 1);
});

test('what is no state file is passed over', async () => {
  const root = await rootWith({ shop: TOKEN });
  for (const name of ['.shop.json.0123456789ab.tmp', '-x.json', 'notes.txt', '__proto__.json']) {
    writeFileSync(join(root, 'state', name), 'anything');
  }
  const { status, stdout, stderr } = await list(root);
  assert.equal([status, stderr, JSON.parse((await list(root, '--json')).stdout).count], [0, '', 1]);
  assert.match(stdout, /^Tokens \(1\):/);
});

test('it works where no socket can be opened to anywhere', async () => {
  if (spawnSync('unshare', ['-n', 'true']).status !== 0) {
    process.stdout.write('(left out: a network of its own needs root)\n');
    return;
  }
  const root = await rootWith({ shop: TOKEN });
  const { status, stdout, stderr } = await shell('exec unshare -n runner-tokens list', { root });
  assert.equal([status, stderr], [0, '']);
  assert.match(stdout, fingerprint(TOKEN));
});

test('it writes nothing, and no token is in what it prints', async () => {
  const root = await rootWith({ shop: TOKEN, blog: SECOND });
  changeSealed(root, 'blog', (value) => `${value.slice(0, -4)}AAAA`);
  const before = tree(root, { modes: true });
  for (const args of [[], ['--json'], ['-o', 'yaml']]) {
    const { stdout, stderr } = await list(root, ...args);
    for (const token of [TOKEN, SECOND]) assert.equal(findSecret(stdout + stderr, token), []);
  }
  assert.equal(tree(root, { modes: true }), before);
});

test.run();
