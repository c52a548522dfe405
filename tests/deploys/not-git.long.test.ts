/** A host that answers, but not as a git server does: a wrong address, a proxy's page, a login. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { REPO, worldSuite } from './world.ts';

const test = worldSuite('not git');

const SENTENCE =
  'the code host does not answer as a git server: check code_host_git_url, and whether a proxy or a ' +
  'login page answers instead';

const answer = (type: string, body: string) => ({
  status: 200,
  body,
  headers: { 'content-type': type },
});

const PAGE = '<!doctype html>\n<html>\n<title>Sign in</title>\n</html>\n';

test('JSON, a page, nothing, and a page that claims to be git are reported as such', async ({
  world,
}) => {
  await world.push('v1');
  for (const each of [
    answer('application/json', '{"message":"ok"}'),
    answer('application/json', '{\n  "message": "ok"\n}\n'),
    answer('text/html', PAGE),
    answer('text/html', PAGE.replaceAll('\n', '')),
    answer('text/html', PAGE.replaceAll('\n<', '\n\t<')),
    answer('text/plain', ''),
    answer('application/x-git-upload-pack-advertisement', PAGE),
  ]) {
    world.git.fail(each, Number.POSITIVE_INFINITY);
    for (const tool of ['runner-deploy', 'runner-fetch']) {
      const { status, stdout, stderr } = await run(tool, ['shop'], { root: world.root });
      const what = `${tool}: ${JSON.stringify(each)}: ${stdout}${stderr}`;
      assert.is(status, 1, what);
      assert.ok((stdout + stderr).includes(SENTENCE), what);
    }
    world.git.heal();
  }
  const ref = { root: world.root };
  world.git.fail(answer('application/json', '{"message":"ok"}'), Number.POSITIVE_INFINITY);
  const { stderr } = await run('runner-deploy', ['shop', '--ref', 'v1'], ref);
  assert.ok(stderr.includes(`${SENTENCE} (code_host_error)\n`), stderr);
  assert.not.ok(existsSync(join(world.root, 'apps/shop/releases')));
});

test('a login page that the host redirects to is reported as such', async ({ world }) => {
  await world.push('v1');
  world.git.fail(
    { status: 302, headers: { location: '/login' } },
    Number.POSITIVE_INFINITY,
    'info/refs',
  );
  world.git.fail(answer('text/html', PAGE), Number.POSITIVE_INFINITY, 'other');
  const { status, stderr } = await world.deploy();
  assert.is(status, 1);
  assert.ok(stderr.includes(`${SENTENCE} (code_host_error)\n`), stderr);
});

test('why a host forbids a token what it asks for is said in the words of the host', async ({
  world,
}) => {
  await world.push('v1');
  const headers = { 'content-type': 'text/plain' };
  const body = "The 'acme' organization has enforced SAML SSO \x1b[2J.\nVisit https://x/1";
  world.git.fail({ status: 403, body, headers }, Number.POSITIVE_INFINITY, 'info/refs');
  const { status, stderr } = await world.deploy();
  assert.is(status, 1);
  const words = `for ${REPO} (The 'acme' organization has enforced SAML SSO \\x1b[2J.); run: runner edit shop`;
  assert.ok(stderr.includes(words), stderr);
  assert.not.match(stderr, /\x1b\[2J/);
});

test('a repository with SHA-256 ids is named as such, whatever is asked of it', async ({
  world,
}) => {
  const folder = world.git.path(REPO);
  rmSync(folder, { recursive: true });
  const git = (args: string[], input = '') => execFileSync('git', args, { cwd: folder, input });
  mkdirSync(folder);
  git(['init', '--quiet', '--bare', '--initial-branch=main', '--object-format=sha256']);
  git(['config', 'uploadpack.allowAnySHA1InWant', 'true']);
  const tree = git(['mktree']).toString().trim();
  const author = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a' };
  const env = { ...process.env, ...author, GIT_COMMITTER_EMAIL: 'a@b' };
  const made = execFileSync('git', ['commit-tree', '-m', 'v1', tree], { cwd: folder, env });
  const commit = made.toString().trim();
  git(['update-ref', 'refs/heads/main', commit]);
  for (const args of [[], ['--ref', commit]]) {
    const failed = await world.deploy(args);
    assert.is(failed.status, 1);
    assert.match(
      failed.stderr,
      `runner deploy: the repository ${REPO} has SHA-256 object ids, which runner does not support: push it to a repository with SHA-1 ids (git_failed)\n`,
    );
  }
});

test.run();
