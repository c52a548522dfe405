/** Acting as a GitHub App: a token for one repository is made for each fetch, and stored nowhere. */
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GitServer, startGitServer } from '@runner/testing/git-server';
import { startHostApi } from '@runner/testing/host-api';
import type { HostApiServer } from '@runner/testing/host-api-types';
import { watchProcesses } from '@runner/testing/proc-watch';
import { run } from '@runner/testing/run';
import { findBytes } from '@runner/testing/secret-search';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const REPO = 'acme/shop';
const pair = (format: 'pkcs1' | 'pkcs8') =>
  generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: format, format: 'pem' },
  });
const KEY = pair('pkcs1');
const MINTED = Array.from({ length: 30 }, (_, at) => `ghs_${String(at).padStart(36, 'minted')}`);

interface Context {
  root: string;
  git: GitServer;
  api: HostApiServer;
}
const test = suite<Context>('GitHub App');

test.before.each(async (context) => {
  context.root = temporaryFolder('root');
  context.git = await startGitServer();
  context.api = await startHostApi('github');
  const { root, git, api } = context;
  for (const token of MINTED) git.allow(token);
  api.installApp('4711', KEY.publicKey, REPO);
  await git.createRepo(REPO);
  const text = `code_host_git_url: ${git.url}\ncode_host_api_url: ${api.apiUrl}\nretry_after: [0s]\n`;
  writeFileSync(join(root, 'config.yml'), text, { mode: 0o600 });
});
test.after.each(async ({ git, api }) => {
  await Promise.all([git.close(), api.close()]);
});

const add = (root: string, key = KEY.privateKey, ...more: string[]) =>
  run(
    'runner-add',
    ['--repo', REPO, '--branch', 'main', '--app-id', '4711', '--app-key-file', '-', ...more],
    { root, stdin: key },
  );
const state = (root: string, app = 'shop') =>
  JSON.parse(readFileSync(join(root, 'state', `${app}.json`), 'utf8'));
/** The middle of a key, without line breaks. */
const inside = (pem: string) => pem.split('\n').slice(3, 6).join('');

test('a token for one repository is made for each command, and neither it nor the key is stored', async ({
  root,
  git,
  api,
}) => {
  const added = await add(root);
  assert.is(added.status, 0, added.stderr);
  assert.equal([state(root).version, state(root).state.github_app], [2, '4711']);
  await git.commit(REPO, { a: '1\n' }, 'first', { tag: 'v1' });
  const secrets = [...MINTED.slice(0, 3), inside(KEY.privateKey)];
  const { value, sightings } = await watchProcesses(secrets, () =>
    run('runner-deploy', ['shop'], { root }),
  );
  assert.is(value.status, 0, value.stderr);
  assert.equal([sightings, api.minted.length], [[], 1]);
  assert.equal(
    api.requests.map(({ method, path }) => `${method} ${path}`),
    [`GET /repos/${REPO}/installation`, 'POST /app/installations/77/access_tokens'],
  );
  for (const secret of secrets) assert.equal(findBytes(root, secret), []);
  await git.commit(REPO, { a: '2\n' }, 'second', { tag: 'v2' });
  assert.is((await run('runner-fetch', ['--deploy'], { root })).stdout, 'shop: deployed v2\n');
  const before = readFileSync(join(root, 'mkey'), 'utf8');
  assert.is((await run('runner-tokens', ['rekey'], { root })).status, 0);
  assert.is.not(readFileSync(join(root, 'mkey'), 'utf8'), before);
  const shared = await run(
    'runner-add',
    ['--repo', REPO, '--branch', 'main', '--name', 'blog', '--token-from', 'shop'],
    { root },
  );
  assert.is(shared.status, 0, shared.stderr);
  assert.is((await run('runner-deploy', ['blog'], { root })).status, 0);
  assert.match((await run('runner-tokens', ['list'], { root })).stdout, /2 app\(s\) \| blog, shop/);
  const edited = await run('runner-edit', ['blog', '--public'], { root });
  assert.equal([edited.status, state(root, 'blog').state], [0, {}]);
});

test('tokens test says whose App it is, and whether git can read', async ({ root, api }) => {
  await add(root);
  const good = await run('runner-tokens', ['test', 'shop', '--json'], { root });
  const { valid, username, git } = JSON.parse(good.stdout);
  assert.equal([good.status, valid, username, git.ok], [0, true, 'shop-deployer[bot]', true]);
  api.fail({ status: 502, body: {} }, 1, 'GET installation');
  assert.is((await run('runner-tokens', ['test', 'shop'], { root })).status, 0);
  api.installApp('4711', pair('pkcs8').publicKey, REPO);
  const refused = await run('runner-tokens', ['test', 'shop', '--json'], { root });
  const answer = JSON.parse(refused.stdout);
  assert.equal(
    [refused.status, answer.valid, answer.http_status, answer.git.error],
    [1, false, 401, 'token_invalid'],
  );
});

test('an App that is not installed, and a file without a key, are reported in one sentence', async ({
  root,
  api,
}) => {
  const { privateKey } = generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  for (const key of ['ghp_token', privateKey]) {
    const { status, stderr } = await add(root, key);
    assert.is(status, 1);
    assert.is(
      stderr,
      'runner add: the key of the GitHub App is not an RSA private key (PEM) (token_invalid)\n',
    );
  }
  const alone = await run('runner-add', ['--repo', REPO, '--branch', 'main', '--app-id', '4711'], {
    root,
  });
  assert.match(alone.stderr, /were not provided: --app-key-file <FILE>\n$/);
  const key = join(root, 'key.pem');
  writeFileSync(key, KEY.privateKey, { mode: 0o600 });
  const place = ['--repo', 'gitlab:acme/site', '--branch', 'main'];
  const elsewhere = await run('runner-add', [...place, '--app-id', '4711', '--app-key-file', key], {
    root,
  });
  assert.is(
    elsewhere.stderr,
    'runner add: the code host gitlab is of the type gitlab: only GitHub has Apps (not_configured)\n',
  );
  assert.is((await add(root)).status, 0);
  api.installApp('4711', KEY.publicKey, 'acme/other');
  const failed = await run('runner-deploy', ['shop'], { root });
  assert.match(
    failed.stderr,
    /the GitHub App 4711 is not installed for acme\/shop \(repo_not_found\)/,
  );
});

test.run();
