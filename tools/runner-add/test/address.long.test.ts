/** The repository by its address alone: its branch is asked of the host, an unknown host is offered. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GitServer, startGitServer } from '@runner/testing/git-server';
import { startOnTerminal } from '@runner/testing/terminal';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { add, contentOf, fingerprint, newRoot, SHOP, stateOf, TOKEN } from './root.ts';

let server: GitServer;
let env: Record<string, string>;
let siteAddress: string;

test.before(async () => {
  server = await startGitServer({ token: TOKEN });
  env = { RUNNER_CODE_HOST_GIT_URL: server.url };
  siteAddress = `http://localhost:${new URL(server.url).port}/acme/site`;
  await server.createRepo('acme/shop');
  await server.commit('acme/shop', { 'a.txt': 'a' }, 'One');
  await server.createRepo('acme/site', { public: true });
  await server.commit('acme/site', { 'a.txt': 'a' }, 'One', { branch: 'trunk' });
  const head = ['symbolic-ref', 'HEAD', 'refs/heads/trunk'];
  execFileSync('git', ['-C', server.path('acme/site'), ...head]);
  await server.createRepo('acme/empty', { public: true });
});

test.after(() => server.close());

test('the argument is the repository, and its own branch is followed', async () => {
  const root = newRoot();
  for (const [address, name] of [
    ['acme/shop', 'one'],
    [`${server.url}/acme/shop`, 'two'],
    [`${server.url}/acme/shop.git`, 'three'],
  ] as const) {
    const args = [address, '--name', name, '--token', '-'];
    const { status, stdout, stderr } = await add(root, args, { env, stdin: TOKEN });
    const token = `token ${fingerprint(TOKEN)}`;
    assert.equal(
      [status, stdout, stderr],
      [0, `Added ${name} (acme/shop, branch main, ${token})\n`, ''],
    );
    assert.is(stateOf(root, name).branch, 'main');
  }
  assert.not.match(JSON.stringify(contentOf(root)), TOKEN);
});

test('an address without its scheme, as browsers show it, is that on https', async () => {
  const root = newRoot();
  const known = await add(root, ['github.com/acme/docs/', '--branch', 'main', '--public'], {});
  assert.equal([known.status, known.stderr], [0, '']);
  assert.equal([stateOf(root, 'docs').host, stateOf(root, 'docs').repo], [undefined, 'acme/docs']);
  const unknown = await add(root, ['git.example.org/acme/docs', '--branch', 'main'], {});
  assert.is(unknown.status, 1);
  assert.match(unknown.stderr, 'code_hosts: { git.example.org: { type: git } } (name_invalid)');
});

test('with a branch or tags the code host is not asked', async () => {
  const away = { RUNNER_CODE_HOST_GIT_URL: 'http://127.0.0.1:1' };
  const root = newRoot();
  const branch = await add(root, ['acme/shop', '--branch', 'next', '--public'], { env: away });
  assert.equal([branch.status, branch.stderr], [0, '']);
  const tags = await add(root, ['acme/docs', '--tags', 'v*', '--public'], { env: away });
  assert.equal([tags.status, tags.stderr], [0, '']);
});

test('what the code host does not answer is one sentence, and nothing is registered', async () => {
  for (const [args, sentence, at] of [
    [
      ['acme/none', '--public'],
      "the code host requires a token for acme/none, and 'none' has none (token_invalid)",
    ],
    [
      ['acme/shop', '--token', '-'],
      "the code host refused the token of 'shop' for acme/shop (token_invalid)",
    ],
    [
      ['acme/empty', '--public'],
      'the repository acme/empty names no default branch; is it empty? Give one with --branch <BRANCH> (branch_not_found)',
    ],
    [
      ['acme/shop', '--public'],
      'the code host refused the connection (network_error)',
      'http://127.0.0.1:1',
    ],
  ] as const) {
    const root = newRoot();
    const { status, stdout, stderr } = await add(root, args, {
      env: { RUNNER_CODE_HOST_GIT_URL: at ?? server.url },
      stdin: 'another-token',
    });
    assert.equal([status, stdout], [1, '']);
    assert.is(stderr.replace(/ \(unable to access .*\)(?= \()/, ''), `runner add: ${sentence}\n`);
    assert.not.match(Object.keys(contentOf(root)).join(), 'state');
  }
});

test('a path is not a repository, and no host is asked for or proposed', async () => {
  for (const path of ['file:///srv/shop.git', './shop', '/srv/shop.git']) {
    const { status, stderr } = await add(newRoot(), [path, '--public']);
    assert.is(status, 1);
    assert.match(stderr, / is not a repository: give it as <owner>\/<name> \(name_invalid\)\n$/);
  }
});

test('an argument and --repo exclude each other, and a second argument is refused', async () => {
  const both = await add(newRoot(), ['acme/shop', ...SHOP, '--public']);
  assert.equal(
    [both.status, both.stderr],
    [2, "error: the argument '[REPO]' cannot be used with '--repo <OWNER/NAME>'\n"],
  );
  const more = await add(newRoot(), ['acme/shop', 'main', '--public']);
  assert.is(more.status, 2);
  assert.match(more.stderr, 'give the branch with --branch <BRANCH>');
});

test('on a terminal an unknown host is added to config.yml, as what the person says', async () => {
  const root = newRoot();
  const session = startOnTerminal('runner-add', [siteAddress, '--public'], { root });
  await session.answer('Enter adds it as git, no stops:');
  const { status } = await session.done;
  assert.is(status, 0, session.text());
  assert.match(session.text(), 'Added site (localhost:acme/site, branch trunk, no token)');
  assert.match(
    readFileSync(join(root, 'config.yml'), 'utf8'),
    `code_hosts:\n  localhost:\n    type: git\n    git_url: ${new URL(siteAddress).origin}\n`,
  );
  const again = await add(root, [siteAddress, '--public', '--name', 'again']);
  assert.equal([again.status, again.stderr], [0, '']);
});

test('with no, or without a terminal, config.yml stays as it is', async () => {
  const root = newRoot();
  const session = startOnTerminal('runner-add', [siteAddress, '--public'], { root });
  await session.answer('no stops:', 'no');
  assert.is((await session.done).status, 1);
  assert.match(session.text(), 'cancelled, nothing was changed (interrupted)');
  const { status, stderr } = await add(root, [siteAddress, '--public']);
  assert.is(status, 1);
  assert.match(
    stderr,
    `code_hosts: { localhost: { type: git, git_url: ${new URL(siteAddress).origin} } }`,
  );
  assert.not.ok(existsSync(join(root, 'config.yml')));
});

test.run();
