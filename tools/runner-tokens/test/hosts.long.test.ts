/** The verdicts on each kind of credential of each host: what the API says, and what git says. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GitServer, startGitServer } from '@runner/testing/git-server';
import { startHostApi } from '@runner/testing/host-api';
import type { ApiToken, ApiType, HostApiServer } from '@runner/testing/host-api-types';
import { run } from '@runner/testing/run';
import { findSecret } from '@runner/testing/secret-search';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

interface Case {
  readonly what: string;
  readonly type: ApiType | 'git';
  /** What the API knows; absent: there is none to ask. */
  readonly token?: ApiToken;
  /** As it is stored; the word TOKEN stands for the secret part. */
  readonly stored?: string;
  /** The user name that git's server wants beside it; null: any. */
  readonly user: string | null;
  readonly username: string | null;
  readonly scopes?: readonly string[];
  readonly end?: string;
}

const REPO = 'acme/shop';
const CASES: readonly Case[] = [
  {
    what: 'a classic token of GitHub',
    type: 'github',
    token: { login: 'ada', scopes: ['repo'], expires: '2099-10-07 19:07:53 UTC' },
    user: 'x-access-token',
    username: 'ada',
    scopes: ['repo'],
    end: '2099-10-07T19:07:53.000Z',
  },
  {
    what: 'a fine-grained token of GitHub',
    type: 'github',
    token: { login: 'ada', expires: '2099-10-07 21:07:53 +0200' },
    user: 'x-access-token',
    username: 'ada',
    end: '2099-10-07T19:07:53.000Z',
  },
  {
    what: 'a personal token of GitLab',
    type: 'gitlab',
    token: { login: 'ada', scopes: ['read_api', 'read_repository'], expires: '2099-12-05' },
    user: 'oauth2',
    username: 'ada',
    scopes: ['read_api', 'read_repository'],
    end: '2099-12-05T00:00:00.000Z',
  },
  {
    what: 'a project token of GitLab',
    type: 'gitlab',
    token: {
      login: 'project_3_bot',
      scopes: ['read_user', 'read_repository'],
      expires: '2099-12-05',
    },
    user: 'oauth2',
    username: 'project_3_bot',
    scopes: ['read_user', 'read_repository'],
    end: '2099-12-05T00:00:00.000Z',
  },
  {
    what: 'a group token of GitLab that may only read repositories',
    type: 'gitlab',
    token: { login: 'group_3_bot', scopes: ['read_repository'] },
    user: 'oauth2',
    username: 'deploy',
    scopes: ['read_repository'],
  },
  {
    what: 'a deploy token of GitLab, which has no API',
    type: 'gitlab',
    stored: 'gitlab+deploy-token-1:TOKEN',
    user: 'gitlab+deploy-token-1',
    username: null,
  },
  {
    what: 'a token of Gitea',
    type: 'gitea',
    token: { login: 'ada', scopes: ['read:user', 'read:repository'] },
    user: null,
    username: 'ada',
  },
  {
    what: 'a token of Forgejo that may only read repositories',
    type: 'gitea',
    token: { login: 'ada', scopes: ['read:repository'] },
    user: null,
    username: null,
  },
  {
    what: 'an API token of Bitbucket',
    type: 'bitbucket',
    token: { login: 'ada', email: 'ada@example.org', scopes: ['read:repository:bitbucket'] },
    stored: 'ada@example.org:TOKEN',
    user: 'x-bitbucket-api-token-auth',
    username: 'ada',
    scopes: ['read:repository:bitbucket'],
  },
  {
    what: 'an access token of a repository of Bitbucket',
    type: 'bitbucket',
    token: { repo: REPO, scopes: ['repository'] },
    user: 'x-token-auth',
    username: null,
    scopes: ['repository'],
  },
  {
    what: 'name and password of a git server',
    type: 'git',
    stored: 'ada:TOKEN',
    user: 'ada',
    username: null,
  },
];

interface Context {
  root: string;
  git: GitServer;
  api: HostApiServer | undefined;
}
const test = suite<Context>('credentials of every host');
const TOKEN = `cr3dential.${String(process.pid).padStart(24, 'x')}`;

test.before.each(async (context) => {
  context.root = temporaryFolder('root');
  context.git = await startGitServer();
  context.api = undefined;
  await context.git.createRepo(REPO);
  await context.git.commit(REPO, { a: '1\n' }, 'first');
});
test.after.each(async ({ git, api }) => {
  await Promise.all([git.close(), api?.close()]);
});

/** Registers `shop` on a host of this type, and says how to ask about its token. */
async function register(context: Context, { type, token, stored = 'TOKEN' }: Case) {
  const { root, git } = context;
  if (type !== 'git') context.api = await startHostApi(type);
  if (token) context.api?.tokens.set(TOKEN, token);
  const api = context.api ? `, api_url: "${context.api.apiUrl}"` : '';
  const text = `code_hosts:\n  here: {type: ${type}, git_url: "${git.url}"${api}}\n`;
  writeFileSync(join(root, 'config.yml'), text, { mode: 0o600 });
  const args = ['--repo', `here:${REPO}`, '--branch', 'main', '--token', '-'];
  const added = await run('runner-add', args, { root, stdin: stored.replace('TOKEN', TOKEN) });
  assert.is(added.status, 0, added.stderr);
  return async (...more: string[]) => {
    const ended = await run('runner-tokens', ['test', 'shop', '--json', ...more], { root });
    assert.equal(findSecret(ended.stdout + ended.stderr, TOKEN), []);
    return { ...ended, answer: ended.stdout.startsWith('{') ? JSON.parse(ended.stdout) : null };
  };
}

for (const each of CASES) {
  test(`${each.what}: both verdicts are right, while it is good and when it is not`, async (context) => {
    const { git, root } = context;
    const { user, username, scopes = [], end } = each;
    git.allow(TOKEN, user);
    const ask = await register(context, each);
    const good = await ask();
    const { fingerprint, ...answer } = good.answer;
    const about = { valid: true, app: 'shop', host: 'here', username, scopes };
    const ends = end === undefined ? {} : { expires_at: end };
    assert.equal(answer, { ...about, ...ends, git: { ok: true, error: null, message: null } });
    assert.equal([good.status, good.stderr], [0, '']);
    const listed = await run('runner-tokens', ['list', '--json'], { root });
    assert.is(JSON.parse(listed.stdout).tokens[0].expires_at, end);
    const wide = await run('runner-tokens', ['list', '--wide'], { root });
    assert.ok(
      wide.stdout.endsWith(` | ${end ? `expires ${end.slice(0, 10)}` : 'no known expiry'}\n`),
    );
    assert.match(fingerprint, /^tk_/);

    git.revoke(TOKEN);
    const blind = await ask();
    assert.is(blind.status, 1);
    assert.is(blind.answer.git.error, 'token_invalid');
    assert.is(blind.answer.valid, each.token !== undefined);

    git.allow(TOKEN, user);
    if (!each.token) return;
    context.api?.tokens.delete(TOKEN);
    const refused = await ask();
    assert.equal(
      [refused.status, refused.answer.valid, refused.answer.http_status, refused.answer.git.ok],
      [1, false, 401, true],
    );
  });
}

test('an end that GitHub gives as now is not believed, and never announced', async (context) => {
  const { root, git } = context;
  git.allow(TOKEN, null);
  const now = () => `${new Date().toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  const ask = await register(context, {
    ...(CASES[0] as Case),
    token: { login: 'ada', expires: now() },
  });
  for (let day = 0; day < 3; day += 1) {
    context.api?.tokens.set(TOKEN, { login: 'ada', expires: now() });
    const { answer, stderr } = await ask();
    assert.equal([answer.expires_at, stderr], [undefined, '']);
    await run('runner-tokens', ['test', '--all', '--quiet'], { root });
  }
  assert.throws(() => readFileSync(join(root, 'logs/deploy-events.jsonl')), /ENOENT/);
});

test('what a token may not do that the configuration asks of it is said', async (context) => {
  const { root, git } = context;
  git.allow(TOKEN, null);
  const ask = await register(context, CASES[2] as Case);
  appendFileSync(join(root, 'config.yml'), 'notify: {commit_status: true}\n');
  const { status, answer, stderr } = await ask();
  assert.equal([status, answer.missing], [0, ['api']]);
  assert.match(stderr, /warning: the token of shop lacks api, which commit_status/);
});

test('--all asks each host about its token, and git about each repository', async (context) => {
  const { root, git } = context;
  git.allow(TOKEN, null);
  const each = CASES[2] as Case;
  await register(context, each);
  const from = ['--repo', 'here:acme/gone', '--branch', 'main', '--token-from', 'shop'];
  await run('runner-add', from, { root });
  const { status, stdout } = await run('runner-tokens', ['test', '--all', '--json'], { root });
  const { tokens } = JSON.parse(stdout);
  assert.equal([status, tokens.length, tokens[0].host, tokens[0].valid], [1, 1, 'here', true]);
  assert.is(tokens[0].git.error, 'repo_not_found');
  const table = await run('runner-tokens', ['test', '--all'], { root });
  assert.match(table.stdout, /git: repo_not_found/);
});

test.run();
