/** What the short and the long tests of code hosts share. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GitServer, startGitServer } from '@runner/testing/git-server';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';

export const own = (name: string) => `${name}-${String(process.pid).padStart(20, 't0ken')}`;

export const GITLAB = own('glpat');

export const GITEA = own('gitea');

export const BITBUCKET = own('ATATT');

export const PLAIN = own('plain');

export const TYPES = ['gitlab', 'forgejo', 'bitbucket', 'git'] as const;

export interface Context {
  root: string;
  git: Record<(typeof TYPES)[number], GitServer>;
}

export const add = (root: string, repo: string, token: string) =>
  run('runner-add', ['--repo', repo, '--branch', 'main', '--token', '-', '--json'], {
    root,
    stdin: token,
  });

export function codeHostsSuite(name: string) {
  const test = suite<Context>(name);
  test.before.each(async (context) => {
    context.root = temporaryFolder('root');
    const [gitlab, forgejo, bitbucket, git] = await Promise.all(TYPES.map(() => startGitServer()));
    context.git = { gitlab, forgejo, bitbucket, git } as Context['git'];
    context.git.gitlab.allow(GITLAB, 'oauth2');
    context.git.forgejo.allow(GITEA, null);
    context.git.bitbucket.allow(BITBUCKET, 'x-bitbucket-api-token-auth');
    context.git.git.allow(PLAIN, 'd+e@ploy');
    const hosts = TYPES.map(
      (type) => `  my-${type}: {type: ${type}, git_url: "${context.git[type].url}"}`,
    );
    const text = `code_hosts:\n${hosts.join('\n')}\nretry_after: [0s]\n`;
    writeFileSync(join(context.root, 'config.yml'), text, { mode: 0o600 });
  });
  test.after.each(async ({ git }) => {
    await Promise.all(Object.values(git).map((each) => each.close()));
  });
  return test;
}
