/**
 * `npm run bench -- deploy`: what a deploy and a fetch cost beside the git commands that they cannot do
 * without, all against a git server on this machine. `--rounds N` (default 15); `--no-large` leaves
 * out the repository of 50,000 files. It works on a RAM disk where there is one, unless TMPDIR says
 * otherwise: unpacking 50,000 files measures the disk. The status is 1 when a budget is missed.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@runner/testing/temp';
import {
  added,
  type Contestant,
  compare,
  conclude,
  FLOOR,
  ours,
  printTable,
} from './harness/measure.ts';
import { muteChat } from './harness/mute-chat.ts';
import { makeRoot, mustRun } from './harness/root.ts';
import { besideServices, serveGit } from './harness/services.ts';
import { printSetting, roundsWanted } from './harness/setting.ts';
import { switchGap } from './harness/switch-gap.ts';

const APPS = 100;
/** Conversations with the code host at once, as `fetch` has them. */
const AT_ONCE = 4;
const FILES = 50_000;

const withLarge = !process.argv.includes('--no-large');
const rounds = roundsWanted(15);
const RAM_DISK = '/dev/shm';
if (process.env.TMPDIR === undefined && existsSync(RAM_DISK)) process.env.TMPDIR = RAM_DISK;

async function serve(): Promise<string[]> {
  const git = await serveGit();
  await git.createRepo('acme/large', { public: true });
  const large: Record<string, string> = { '.deploy.yml': 'keep: 1\n' };
  for (let file = 0; withLarge && file < FILES; file += 1) {
    large[`d${file % 500}/f${file}.txt`] = `file ${file}\n${'content '.repeat(file % 200)}\n`;
  }
  await git.commit('acme/large', large, 'one');
  for (let number = 0; number < APPS; number += 1) {
    await git.createRepo(`acme/small${number}`, { public: true });
    await git.commit(`acme/small${number}`, { 'index.html': 'hello\n' }, 'one');
  }
  return [git.url];
}

const CLEAN = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
};

const shell = (name: string, script: string): Contestant => ({
  name,
  file: '/bin/sh',
  args: ['-c', script],
  env: CLEAN,
  strict: true,
});

/** The git commands of a deploy whose commit is in the mirror already, bare and one after the other. */
function bareGit(url: string, repo: string, where: string): string {
  const remote = `${url}/${repo}.git`;
  return `set -e; cd ${where}; rm -rf out; mkdir out
sha=$(git ls-remote --quiet ${remote} refs/heads/main 'refs/tags/*' | cut -f1)
git -C m.git ls-tree -r -z --full-tree $sha >/dev/null
echo $sha:.deploy.yml | git -C m.git cat-file --batch >/dev/null
git -C m.git archive --format=tar $sha | tar -x -f - -C out`;
}

/** A folder with a mirror that has the commit already, as before a second deploy. */
function makeMirror(url: string, repo: string): string {
  const where = temporaryFolder('bench');
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', where, ...args], { env: { ...process.env, ...CLEAN } });
  git('init', '-q', '--bare', 'm.git');
  const branch = '+refs/heads/main:refs/heads/main';
  git('--git-dir=m.git', 'fetch', '-q', '--depth=1', `${url}/${repo}.git`, branch);
  return where;
}

const rootOf = (url: string, repo: Parameters<typeof makeRoot>[1], count = 1) =>
  makeRoot(`code_host_git_url: ${url}\n`, repo, count);

async function smallDeploy(url: string): Promise<boolean> {
  const root = await rootOf(url, 'acme/small');
  const where = makeMirror(url, 'acme/small');
  const name = 'deploy, small repository, nothing to build or start';
  const contestants = [
    shell('the same git commands, bare', bareGit(url, 'acme/small', where)),
    ours(name, root, ['runner-deploy', 'app0'], { strict: true }),
  ];
  const [floor, git, deploy] = compare([FLOOR, ...contestants], rounds);
  if (!floor || !git || !deploy) return false;
  const own = added('what the deploy adds to git', deploy, git, 3);
  return printTable('One deploy', [floor, git, deploy, own]);
}

async function fetchOfMany(url: string): Promise<boolean> {
  const roots = [
    await rootOf(url, (number) => `acme/small${number}`, APPS),
    await rootOf(url, 'acme/small', APPS),
  ];
  for (const root of roots)
    await mustRun('runner-fetch', ['--deploy', '--quiet'], { root, timeout: 600_000 });
  const [root = '', shared = ''] = roots;
  const listing = `seq 0 ${APPS - 1} | xargs -P ${AT_ONCE} -I% git ls-remote --quiet ${url}/acme/small%.git refs/heads/main 'refs/tags/*'`;
  const fetching = ['runner-fetch', '--deploy', '--quiet'];
  const figures = compare(
    [
      shell(`${APPS} × git ls-remote, ${AT_ONCE} at a time`, listing),
      ours(`fetch --deploy, ${APPS} apps`, root, fetching, { strict: true, budget: 1.5 }),
      ours(`the same, ${APPS} apps of one repository`, shared, fetching, { strict: true }),
    ],
    Math.ceil(rounds / 3),
  );
  return printTable(`Nothing new in ${APPS} apps`, figures);
}

async function largeDeploy(url: string): Promise<boolean> {
  const root = await rootOf(url, 'acme/large');
  await mustRun('runner-deploy', ['app0'], { root, timeout: 300_000 });
  const mirror = join(root, 'apps/app0/repo.git');
  const out = join(temporaryFolder('bench'), 'out');
  // A deploy removes the release before the last one; so does the bare one.
  const bare = `rm -rf ${out}; mkdir ${out}; git -C ${mirror} archive --format=tar refs/runner/head | tar -x -f - -C ${out}`;
  const figures = compare(
    [
      shell('rm -rf, git archive, tar x, bare', bare),
      ours('deploy', root, ['runner-deploy', 'app0'], { strict: true, budget: 1.3 }),
    ],
    Math.max(3, Math.ceil(rounds / 3)),
  );
  return printTable(`A repository of ${FILES.toLocaleString('en')} files`, figures);
}

async function measure([url = '']: readonly string[]): Promise<void> {
  printSetting('Deploying', rounds);
  const kept = [await smallDeploy(url), await fetchOfMany(url)];
  if (withLarge) kept.push(await largeDeploy(url));
  await switchGap(rounds);
  kept.push(await muteChat());
  conclude(kept);
}

void besideServices(serve, measure);
