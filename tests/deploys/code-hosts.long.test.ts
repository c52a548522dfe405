/** Apps on several code hosts at once: repositories in groups, user names, submodules across hosts. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { watchProcesses } from '@runner/testing/proc-watch';
import { run } from '@runner/testing/run';
import { findBytes } from '@runner/testing/secret-search';
import * as assert from 'uvu/assert';
import { add, BITBUCKET, codeHostsSuite, GITEA, GITLAB, PLAIN } from './code-hosts.ts';

const test = codeHostsSuite('code hosts');

const state = (root: string, app: string) =>
  JSON.parse(readFileSync(join(root, 'state', `${app}.json`), 'utf8'));

const at = (root: string, app: string, path: string) =>
  readFileSync(join(root, 'apps', app, 'instances/default/current', path), 'utf8');

test('one server deploys from hosts of every type, each with its own user name', async ({
  root,
  git,
}) => {
  const apps = [
    ['gitlab', 'group/sub/deep/site', `my-gitlab:group/sub/deep/site`, GITLAB],
    ['forgejo', 'acme/blog', `${git.forgejo.url}/acme/blog.git`, GITEA],
    ['bitbucket', 'acme/shop', 'my-bitbucket:acme/shop', `ada@example.org:${BITBUCKET}`],
    ['git', 'lone', `${git.git.url}/lone`, `d+e@ploy:${PLAIN}`],
  ] as const;
  for (const [type, repo, given, token] of apps) {
    await git[type].createRepo(repo);
    await git[type].commit(repo, { 'who.txt': `${type}\n` }, 'first');
    const added = await add(root, given, token);
    assert.is(added.status, 0, added.stderr);
    const name = repo.split('/').at(-1) as string;
    assert.is(JSON.parse(added.stdout).host, `my-${type}`);
    assert.equal([state(root, name).version, state(root, name).repo], [2, repo]);
    const { value, sightings } = await watchProcesses([GITLAB, GITEA, BITBUCKET, PLAIN], () =>
      run('runner-deploy', [name], { root }),
    );
    assert.is(value.status, 0, value.stderr);
    assert.equal(sightings, []);
    assert.is(at(root, name, 'who.txt'), `${type}\n`);
  }
  for (const token of [GITLAB, GITEA, BITBUCKET, PLAIN]) assert.equal(findBytes(root, token), []);
  const kept = await run('runner-edit', ['site', '--repo', 'acme/site'], { root });
  assert.equal(
    [kept.status, kept.stderr],
    [
      1,
      "runner edit: the token of 'site' is for the code host my-gitlab, not for default: give one with --token, --token-file or --public (token_wrong_host)\n",
    ],
  );
  const borrow = ['--repo', 'acme/new', '--branch', 'main', '--token-from', 'site'];
  assert.match(
    (await run('runner-add', borrow, { root })).stderr,
    /not for default.*token_wrong_host/,
  );
  const edited = await run('runner-edit', ['site', '--repo', 'acme/site', '--public'], { root });
  assert.is(edited.stdout, 'Changed site (acme/site, branch main)\n');
  assert.is(state(root, 'site').host, undefined);
});

test('a submodule on another host gets the token of another app only where an operator allows it', async ({
  root,
  git,
}) => {
  await git.forgejo.createRepo('acme/lib');
  const lib = await git.forgejo.commit('acme/lib', { 'lib.txt': 'lib\n' }, 'lib');
  await git.forgejo.createRepo('acme/vault');
  const vault = await git.forgejo.commit('acme/vault', { 'payroll.txt': '12345\n' }, 'vault');
  await git.gitlab.createRepo('group/sub/site');
  const push = (repo: string, commit: string) =>
    git.gitlab.commit(
      'group/sub/site',
      {
        '.gitmodules': `[submodule "sub"]\n\tpath = sub\n\turl = ${git.forgejo.url}/${repo}.git\n`,
        sub: { submodule: commit },
      },
      repo,
    );
  await push('acme/vault', vault);
  await add(root, 'my-gitlab:group/sub/site', GITLAB);
  await add(root, 'my-forgejo:acme/vault', GITEA);
  const deploy = () => run('runner-deploy', ['site'], { root });
  const sentence = (repo: string) =>
    `the submodule sub gets no token: if site may read ${repo}, name the app with a token for it in config.yml: submodules: { site: { APP: [${repo}] } }`;
  const heard = () =>
    git.forgejo.requests.map(({ authorization }) =>
      Buffer.from((authorization ?? '').slice(6), 'base64').toString(),
    );
  const before = heard().length;
  const stolen = await deploy();
  assert.is(stolen.status, 1);
  assert.ok(stolen.stderr.includes(`${sentence('acme/vault')} (not_configured)\n`), stolen.stderr);
  assert.not.ok(
    heard()
      .slice(before)
      .some((text) => text.includes(GITEA) || text.includes(GITLAB)),
  );
  // Allowed for one app and one repository.
  appendFileSync(join(root, 'config.yml'), 'submodules: { site: { vault: [acme/lib] } }\n');
  assert.ok((await deploy()).stderr.includes(sentence('acme/vault')));
  await push('acme/lib', lib);
  const done = await deploy();
  assert.is(done.status, 0, done.stderr);
  assert.is(at(root, 'site', 'sub/lib.txt'), 'lib\n');
  assert.not.ok(heard().some((text) => text.includes(GITLAB)));
  // Taken back: what the token has fetched is not deployed again.
  const config = join(root, 'config.yml');
  writeFileSync(config, readFileSync(config, 'utf8').replace(/^submodules: .*\n/m, ''));
  const again = await run('runner-deploy', ['site', '--ref', 'main', '--force'], { root });
  assert.is(again.status, 1);
  assert.ok(again.stderr.includes(sentence('acme/lib')), again.stderr);
});

test.run();
