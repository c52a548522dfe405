import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder, tree } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { add, fingerprint, newRoot, register, SHOP, sealedOf, stateOf, TOKEN } from './root.ts';

const ADDED = `Added shop (acme/shop, branch main, token ${fingerprint(TOKEN)})\n`;
const done = (stdout: string, stderr = '') => [0, stdout, stderr];

function tokenFile(text: string): string {
  const path = join(temporaryFolder('token'), 'token');
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

test('a token from standard input is stored encrypted, in files that only the owner reads', async () => {
  const root = newRoot();
  const { status, stdout, stderr } = await add(root, [...SHOP, '--token', '-'], { stdin: TOKEN });
  assert.equal([status, stdout, stderr], done(ADDED));
  const files = tree(root, { modes: true });
  assert.equal(Object.keys(files), [
    'apps/',
    'apps/shop/',
    'locks/',
    'locks/registry.lock',
    'mkey',
    'state/',
    'state/shop.json',
  ]);
  const modes = Object.values(files).map((text) => text.slice(0, 4));
  assert.equal(modes, ['0750', '0750', '0750', '0600', '0600', '0700', '0600']);
  assert.match(files.mkey ?? '', /^0600 [A-Za-z0-9_-]{43}\n$/);
});

test('the state file matches docs/files.md, and nothing else has happened to the app', async () => {
  const root = newRoot();
  const before = Date.now();
  await register(root, 'shop');
  const { created_at, updated_at, state, ...rest } = stateOf(root, 'shop');
  assert.equal(rest, {
    version: 1,
    app: 'shop',
    repo: 'acme/shop',
    branch: 'main',
    instances: {},
    failures: null,
    held: null,
    deploying: null,
    last_checked: null,
  });
  assert.equal(Object.keys(state as object), ['repohost_token']);
  assert.is(created_at, updated_at);
  const time = Date.parse(String(created_at));
  assert.ok(time >= before - 1 && time <= Date.now());
  const { header } = sealedOf(root, 'shop');
  const { kid, ...bound } = header as { kid: string };
  assert.equal(bound, { alg: 'dir', enc: 'A256GCM', app: 'shop', fld: 'state.repohost_token' });
  assert.match(kid, /^m_[0-9a-f]{8}$/);
});

test('a token in the command line is taken, with a warning that names the better ways', async () => {
  for (const args of [['--token', TOKEN], [`--token=${TOKEN}`]]) {
    const { status, stdout, stderr } = await add(newRoot(), [...SHOP, ...args]);
    const warning =
      'runner add: warning: --token shows the token in the process list, use --token - or --token-file\n';
    assert.equal([status, stdout, stderr], done(ADDED, warning));
  }
});

test('a token comes from a file, whose path may be relative', async () => {
  const file = tokenFile(`${TOKEN}\n`);
  const absolute = await add(newRoot(), [...SHOP, '--token-file', file]);
  assert.equal([absolute.status, absolute.stdout, absolute.stderr], done(ADDED));
  const cwd = join(file, '..');
  const relative = await add(newRoot(), [...SHOP, '--token-file', 'token'], { cwd });
  assert.equal([relative.status, relative.stdout, relative.stderr], done(ADDED));
});

test('a token comes from RUNNER_TOKEN, which every option outranks', async () => {
  const plain = await add(newRoot(), SHOP, { env: { RUNNER_TOKEN: TOKEN } });
  assert.equal([plain.status, plain.stdout, plain.stderr], done(ADDED));
  const env = { RUNNER_TOKEN: 'another-token' };
  const options = { env, stdin: TOKEN };
  assert.is((await add(newRoot(), [...SHOP, '--token', '-'], options)).stdout, ADDED);
  const file = tokenFile(TOKEN);
  assert.is((await add(newRoot(), [...SHOP, '--token-file', file], { env })).stdout, ADDED);
  const open = await add(newRoot(), [...SHOP, '--public'], { env });
  assert.is(open.stdout, 'Added shop (acme/shop, branch main, no token)\n');
});

test('one newline after a token is not part of it', async () => {
  for (const end of ['', '\n', '\r\n']) {
    const { stdout } = await add(newRoot(), [...SHOP, '--token', '-'], { stdin: TOKEN + end });
    assert.is(stdout, ADDED, JSON.stringify(end));
  }
});

test('a public repository needs no token, and no master key is made for it', async () => {
  const root = newRoot();
  const { status, stdout, stderr } = await add(root, [...SHOP, '--public']);
  assert.equal([status, stdout, stderr], done('Added shop (acme/shop, branch main, no token)\n'));
  assert.equal(stateOf(root, 'shop').state, {});
  assert.not.ok('mkey' in tree(root));
});

test('--token-from seals the token of another app again and prints its fingerprint on stderr', async () => {
  const root = newRoot();
  await register(root, 'shop');
  const args = ['--repo', 'acme/blog', '--branch', 'main', '--token-from', 'shop'];
  const { status, stdout, stderr } = await add(root, args);
  const print = fingerprint(TOKEN);
  assert.equal(
    [status, stdout, stderr],
    done(
      `Added blog (acme/blog, branch main, token ${print})\n`,
      `Reusing token ${print} from shop\n`,
    ),
  );
  assert.is.not(sealedOf(root, 'blog').value, sealedOf(root, 'shop').value);
  assert.is((sealedOf(root, 'blog').header as { app: string }).app, 'blog');
});

test('--ckey seals with a key of its own inside the master key, also for a token that is reused', async () => {
  const root = newRoot();
  await add(root, [...SHOP, '--ckey', '--token', '-'], { stdin: TOKEN });
  const again = ['--repo', 'acme/blog', '--branch', 'main', '--token-from', 'shop', '--ckey'];
  const { status, stderr } = await add(root, again);
  assert.equal([status, stderr], [0, `Reusing token ${fingerprint(TOKEN)} from shop\n`]);
  for (const app of ['shop', 'blog']) {
    const { value, header } = sealedOf(root, app);
    const { alg, enc, app: bound } = header as Record<string, string>;
    assert.equal([alg, enc, bound], ['A256GCMKW', 'A256GCM', app]);
    assert.equal(
      value.split('.').map((part) => part !== ''),
      [true, true, true, true, true],
    );
  }
});

test('--name chooses the name; without it the repository gives it', async () => {
  const root = newRoot();
  const named = await add(root, [...SHOP, '--public', '--name', 'shop-2.eu_A']);
  assert.is(named.stdout, 'Added shop-2.eu_A (acme/shop, branch main, no token)\n');
  assert.is(stateOf(root, 'shop-2.eu_A').repo, 'acme/shop');
  const longest = 'a'.repeat(63);
  assert.is((await add(root, [...SHOP, '--public', `--name=${longest}`])).status, 0);
  const git = await add(root, ['--repo', 'acme/web.git', '--branch', 'release/v1', '--public']);
  assert.is(git.stdout, 'Added web (acme/web, branch release/v1, no token)\n');
});

test('JSON and YAML hold the same, and null in place of a fingerprint', async () => {
  const root = newRoot();
  const json = await add(root, [...SHOP, '--token', '-', '--json'], { stdin: TOKEN });
  const answer = JSON.parse(json.stdout);
  const { created_at, ...rest } = answer;
  assert.equal(rest, {
    app: 'shop',
    repo: 'acme/shop',
    branch: 'main',
    fingerprint: fingerprint(TOKEN),
  });
  assert.is(created_at, stateOf(root, 'shop').created_at);
  assert.is(json.stdout, `${JSON.stringify(answer)}\n`);
  const yaml = await add(root, [...SHOP, '--name', 'two', '--public', '-o', 'yaml']);
  const time = stateOf(root, 'two').created_at;
  assert.is(
    yaml.stdout,
    `app: two\nrepo: acme/shop\nbranch: main\nfingerprint: null\ncreated_at: "${time}"\n`,
  );
  assert.equal([json.status, json.stderr, yaml.status, yaml.stderr], [0, '', 0, '']);
});

test('--root outranks RUNNER_ROOT and may be relative; nothing else is written', async () => {
  const cwd = temporaryFolder('add');
  const other = newRoot();
  const { status } = await add(other, [...SHOP, '--public', '--root', 'here'], { cwd });
  assert.is(status, 0);
  assert.equal(Object.keys(tree(cwd)), [
    'here/',
    'here/apps/',
    'here/apps/shop/',
    'here/locks/',
    'here/locks/registry.lock',
    'here/state/',
    'here/state/shop.json',
  ]);
  assert.equal(tree(join(other, '..')), {});
});

test('apps that are added at the same time are all there, and share one master key', async () => {
  const root = newRoot();
  const names = Array.from({ length: 8 }, (_, index) => `app${index}`);
  const ended = await Promise.all(
    names.map((name) =>
      add(root, [...SHOP, '--name', name, '--token', '-'], { stdin: `${TOKEN}-${name}` }),
    ),
  );
  assert.equal(
    ended.map(({ status, stderr }) => [status, stderr]),
    names.map(() => [0, '']),
  );
  const kids = names.map((name) => (sealedOf(root, name).header as { kid: string }).kid);
  assert.is(new Set(kids).size, 1);
});

test('of several concurrent adds of one app, one succeeds', async () => {
  const root = newRoot();
  const ended = await Promise.all(
    [1, 2, 3, 4].map((number) =>
      add(root, [...SHOP, '--token', '-'], { stdin: `${TOKEN}-${number}` }),
    ),
  );
  assert.equal(ended.map(({ status }) => status).sort(), [0, 1, 1, 1]);
  for (const { status, stderr } of ended) {
    if (status === 0) continue;
    assert.is(stderr, "runner add: an app called 'shop' is registered already (app_exists)\n");
  }
});

test.run();
