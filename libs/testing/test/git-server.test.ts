import { execFile } from 'node:child_process';
import { readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gitEnvironment } from '@runner/testing/git-repos';
import { startGitServer } from '@runner/testing/git-server';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const execute = promisify(execFile);
const TOKEN = 'ghp_correct_horse_battery';

/** Runs git as a client; with a token it is sent as a code host expects it. */
async function git(args: string[], token?: string) {
  const env = gitEnvironment();
  if (token !== undefined) {
    const basic = Buffer.from(`x-access-token:${token}`).toString('base64');
    env.GIT_CONFIG_COUNT = '1';
    env.GIT_CONFIG_KEY_0 = 'http.extraHeader';
    env.GIT_CONFIG_VALUE_0 = `Authorization: Basic ${basic}`;
  }
  try {
    const { stdout, stderr } = await execute('git', args, { env, timeout: 120_000 });
    return { status: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { status: code, stdout, stderr };
  }
}

async function serverWithShop() {
  const server = await startGitServer({ token: TOKEN });
  await server.createRepo('acme/shop');
  const first = await server.commit(
    'acme/shop',
    { 'index.html': 'one\n', 'bin/run': '#!/bin/sh\n' },
    'first',
    {
      executable: ['bin/run'],
    },
  );
  return { server, first };
}

test('a clone with the token gets the files', async () => {
  const { server, first } = await serverWithShop();
  for (const suffix of ['', '.git']) {
    const folder = join(temporaryFolder(), 'clone');
    const done = await git(['clone', '--quiet', `${server.url}/acme/shop${suffix}`, folder], TOKEN);
    assert.is(done.status, 0, done.stderr);
    assert.is(readFileSync(join(folder, 'index.html'), 'utf8'), 'one\n');
    assert.is(statSync(join(folder, 'bin/run')).mode & 0o111, 0o111);
    assert.is((await git(['-C', folder, 'rev-parse', 'HEAD'])).stdout.trim(), first);
  }
  assert.is(server.requests[0]?.headers['git-protocol'], 'version=2');
  await server.close();
});

test('a clone without a token, with a wrong or a revoked one is refused', async () => {
  const { server } = await serverWithShop();
  const url = `${server.url}/acme/shop`;
  assert.match((await git(['ls-remote', url])).stderr, /could not read Username/);
  assert.match(
    (await git(['ls-remote', url], 'wrong')).stderr,
    /could not read Username|Authentication failed/,
  );
  assert.is((await git(['ls-remote', url], TOKEN)).status, 0);
  server.revoke(TOKEN);
  assert.is.not((await git(['ls-remote', url], TOKEN)).status, 0);
  server.allow('another');
  assert.is((await git(['ls-remote', url], 'another')).status, 0);
  await server.close();
});

test('every request is recorded with its credentials', async () => {
  const { server } = await serverWithShop();
  await git(['ls-remote', `${server.url}/acme/shop`], TOKEN);
  const [first] = server.requests;
  assert.is(first?.method, 'GET');
  assert.is(first?.path, '/acme/shop/info/refs?service=git-upload-pack');
  const basic = Buffer.from(`x-access-token:${TOKEN}`).toString('base64');
  assert.is(first?.authorization, `Basic ${basic}`);
  assert.is(first?.status, 200);
  await server.close();
});

test('another user name than x-access-token is refused', async () => {
  const { server } = await serverWithShop();
  const url = server.url.replace('//', `//someone:${TOKEN}@`);
  assert.is.not((await git(['ls-remote', `${url}/acme/shop`])).status, 0);
  await server.close();
});

test('a repository that does not exist is not found', async () => {
  const { server } = await serverWithShop();
  const done = await git(['ls-remote', `${server.url}/acme/none`], TOKEN);
  assert.match(done.stderr, /repository '.*' not found/);
  await server.close();
});

test('a public repository needs no token', async () => {
  const server = await startGitServer();
  await server.createRepo('acme/open', { public: true });
  const id = await server.commit('acme/open', { a: '1' }, 'first');
  assert.match((await git(['ls-remote', `${server.url}/acme/open`])).stdout, id);
  await server.close();
});

test('branches, tags, forced pushes and deleted files are real', async () => {
  const { server, first } = await serverWithShop();
  const url = `${server.url}/acme/shop`;
  const second = await server.commit('acme/shop', { 'index.html': null, new: 'n' }, 'second', {
    tag: 'v1.0.0',
  });
  const other = await server.commit('acme/shop', { x: 'x' }, 'other', { branch: 'next' });
  const refs = (await git(['ls-remote', url], TOKEN)).stdout;
  assert.match(refs, `${second}\trefs/heads/main`);
  assert.match(refs, `${second}\trefs/tags/v1.0.0^{}`);
  assert.match(refs, `${other}\trefs/heads/next`);
  assert.is(await server.head('acme/shop', 'v1.0.0'), second);
  const moved = await server.commit('acme/shop', {}, 'moved', { branch: 'next', tag: 'v1.0.0' });
  assert.is(await server.head('acme/shop', 'v1.0.0'), moved);

  const folder = join(temporaryFolder(), 'clone');
  await git(['clone', '--quiet', url, folder], TOKEN);
  assert.is((await git(['-C', folder, 'log', '--format=%H'])).stdout, `${second}\n${first}\n`);
  assert.is((await git(['-C', folder, 'ls-files'])).stdout, 'bin/run\nnew\n');

  const forced = await server.commit('acme/shop', { forced: 'f' }, 'third', { force: true });
  assert.is(await server.head('acme/shop'), forced);
  await git(['-C', folder, 'fetch', '--quiet', 'origin'], TOKEN);
  assert.is((await git(['-C', folder, 'log', '--format=%H', 'origin/main'])).stdout, `${forced}\n`);

  await server.deleteBranch('acme/shop', 'next');
  assert.is(await server.head('acme/shop', 'next'), null);
  await server.close();
});

test('one exact commit can be fetched, also one that no branch points to', async () => {
  const { server, first } = await serverWithShop();
  await server.commit('acme/shop', { y: 'y' }, 'second', { force: true });
  const folder = temporaryFolder();
  await git(['init', '--quiet', '--bare', folder]);
  const done = await git(
    ['-C', folder, 'fetch', '--depth=1', `${server.url}/acme/shop`, first],
    TOKEN,
  );
  assert.is(done.status, 0, done.stderr);
  await server.close();
});

test('a long conversation is sent compressed and understood', async () => {
  const server = await startGitServer({ token: TOKEN });
  await server.createRepo('acme/many');
  const commits: string[] = [];
  for (let n = 0; n < 4; n += 1) {
    commits.push(await server.commit('acme/many', { n: String(n) }, `commit ${n}`));
  }
  const bare = server.path('acme/many');
  for (let n = 0; n < 80; n += 1) {
    writeFileSync(join(bare, 'refs/heads', `b${n}`), `${commits[n % 4]}\n`);
  }
  const folder = temporaryFolder();
  await git(['init', '--quiet', '--bare', folder]);
  const done = await git(
    ['-C', folder, 'fetch', '--quiet', `${server.url}/acme/many`, '+refs/*:refs/*'],
    TOKEN,
  );
  assert.is(done.status, 0, done.stderr);
  assert.ok(server.requests.some((request) => request.headers['content-encoding'] === 'gzip'));
  await server.close();
});

test('a push needs the token', async () => {
  const { server, first } = await serverWithShop();
  const url = `${server.url}/acme/shop`;
  const folder = join(temporaryFolder(), 'clone');
  await git(['clone', '--quiet', url, folder], TOKEN);
  const push = ['-C', folder, 'push', '--quiet', url, 'HEAD:refs/heads/pushed'];
  assert.is.not((await git(push)).status, 0);
  assert.is(await server.head('acme/shop', 'pushed'), null);
  assert.is((await git(push, TOKEN)).status, 0);
  assert.is(await server.head('acme/shop', 'pushed'), first);
  await server.close();
});

test('links, odd names and bytes arrive as they are', async () => {
  const { server } = await serverWithShop();
  const odd = 'a "b"\n\\ü';
  const bytes = Buffer.from([0, 255, 10, 13]);
  await server.commit('acme/shop', { [odd]: bytes, link: { link: 'index.html' } }, 'odd\n\nnames');
  const folder = join(temporaryFolder(), 'clone');
  await git(['clone', '--quiet', `${server.url}/acme/shop`, folder], TOKEN);
  assert.equal(readFileSync(join(folder, odd)), bytes);
  assert.is(readlinkSync(join(folder, 'link')), 'index.html');
  assert.is((await git(['-C', folder, 'fsck', '--strict'])).status, 0);
  await server.close();
});

test('the same commits get the same ids everywhere', async () => {
  const [a, b] = await Promise.all([serverWithShop(), serverWithShop()]);
  assert.is(a.first, b.first);
  await Promise.all([a.server.close(), b.server.close()]);
});

test('every fault reaches git', async () => {
  const { server } = await serverWithShop();
  const url = `${server.url}/acme/shop`;
  const table = [
    [{ status: 403 }, /error: 403/],
    [{ status: 404 }, /not found/],
    [{ status: 500 }, /error: 500/],
    [{ status: 401 }, /could not read Username|Authentication failed/],
    ['html', /error: 502/],
    ['drop', /Empty reply|unable to access/],
    [{ status: 200, body: '<html>\nsign in\n</html>\n' }, /not valid: is this a git repository/],
  ] as const;
  for (const [fault, expected] of table) {
    server.fail(fault);
    const done = await git(['ls-remote', url], TOKEN);
    assert.is.not(done.status, 0, JSON.stringify(fault));
    assert.match(done.stderr, expected);
  }
  // A lost connection that had been used before is tried once more by curl.
  server.fail('drop', 2, 'git-upload-pack');
  assert.is.not((await git(['ls-remote', url], TOKEN)).status, 0);
  assert.is((await git(['ls-remote', url], TOKEN)).status, 0);
  await server.close();
});

test('a redirect leads to another origin', async () => {
  const { server } = await serverWithShop();
  const other = await startGitServer();
  server.fail({ redirect: other.url });
  await git(['ls-remote', `${server.url}/acme/shop`], TOKEN);
  assert.is(other.requests[0]?.path, '/acme/shop/info/refs?service=git-upload-pack');
  await Promise.all([server.close(), other.close()]);
});

test('a server that hangs is ended by close', async () => {
  const { server } = await serverWithShop();
  server.fail('hang');
  const waiting = git(['ls-remote', `${server.url}/acme/shop`], TOKEN);
  while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  await server.close();
  assert.is.not((await waiting).status, 0);
  await server.close();
});

test.run();
