/**
 * `npm run bench -- deploy`: what a deploy and a fetch cost beside the git commands that they cannot do
 * without, all against a git server on this machine. `--rounds N` (default 15); `--no-large` leaves
 * out the repository of 50,000 files. It works on a RAM disk where there is one, unless TMPDIR says
 * otherwise: unpacking 50,000 files measures the disk. The status is 1 when a budget is missed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startGitServer } from '@runner/testing/git-server';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { added, type Contestant, compare, FLOOR, printTable } from './harness/measure.ts';
import { muteChat } from './harness/mute-chat.ts';
import { bin, printSetting, roundsWanted } from './harness/setting.ts';
import { switchGap } from './harness/switch-gap.ts';

const TOKEN = 'ghp_benchbenchbenchbenchbenchbenchbe';
const APPS = 100;
/** Conversations with the code host at once, as `fetch` has them. */
const AT_ONCE = 4;
const FILES = 50_000;

const option = (name: string) => process.argv.indexOf(`--${name}`);
const rounds = roundsWanted(15);
const RAM_DISK = '/dev/shm';
if (process.env.TMPDIR === undefined && existsSync(RAM_DISK)) process.env.TMPDIR = RAM_DISK;

/** A git server in a process of its own: the one who measures is blocked. */
async function serve(): Promise<void> {
  const server = await startGitServer({ token: TOKEN });
  await server.createRepo('acme/small', { public: true });
  await server.commit('acme/small', { 'index.html': 'hello\n', '.deploy.yml': 'keep: 1\n' }, 'one');
  await server.createRepo('acme/large', { public: true });
  const large: Record<string, string> = { '.deploy.yml': 'keep: 1\n' };
  for (let file = 0; option('no-large') === -1 && file < FILES; file += 1) {
    large[`d${file % 500}/f${file}.txt`] = `file ${file}\n${'content '.repeat(file % 200)}\n`;
  }
  await server.commit('acme/large', large, 'one');
  process.stdout.write(`${server.url}\n`);
  setInterval(() => server.requests.splice(0), 1000);
}

/** A root with apps of one public repository. */
async function makeRoot(url: string, repo: string, count: number): Promise<string> {
  const root = join(temporaryFolder('bench'), 'root');
  mkdirSync(root);
  writeFileSync(join(root, 'config.yml'), `code_host_git_url: ${url}\n`, { mode: 0o600 });
  for (let number = 0; number < count; number += 1) {
    const args = ['--repo', repo, '--branch', 'main', '--name', `app${number}`, '--public'];
    const done = await run('runner-add', args, { root });
    if (done.status !== 0) throw new Error(done.stderr);
  }
  return root;
}

const CLEAN = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
};

const shell = (name: string, script: string, budget?: number): Contestant => ({
  name,
  file: '/bin/sh',
  args: ['-c', script],
  env: CLEAN,
  strict: true,
  ...(budget !== undefined && { budget }),
});

/** The git commands of one deploy, bare and one after the other. */
function bareGit(url: string, repo: string, where: string): string {
  const remote = `${url}/${repo}.git`;
  return `set -e; cd ${where}; rm -rf out; mkdir out
sha=$(git ls-remote --quiet ${remote} refs/heads/main 'refs/tags/*' | cut -f1)
git -C m.git fetch --quiet --force --no-tags --depth=1 --no-write-fetch-head --no-auto-maintenance ${remote} +$sha:refs/heads/main
git -C m.git ls-tree -r -z --full-tree $sha >/dev/null
echo $sha:.deploy.yml | git -C m.git cat-file --batch >/dev/null
git -C m.git archive --format=tar $sha | tar -x -f - -C out`;
}

/** A mirror that has the commit already, as before a second deploy. */
async function makeMirror(url: string, repo: string): Promise<string> {
  const where = temporaryFolder('bench');
  const script = `git init -q --bare ${where}/m.git && git -C ${where}/m.git fetch -q --depth=1 ${url}/${repo}.git +refs/heads/main:refs/heads/main`;
  const child = spawn('/bin/sh', ['-c', script], { env: { ...process.env, ...CLEAN } });
  const [status] = (await once(child, 'close')) as [number];
  if (status !== 0) throw new Error('the mirror could not be made');
  return where;
}

function ours(name: string, root: string, tool: string, args: readonly string[]): Contestant {
  const env = { RUNNER_ROOT: root };
  return { name, file: process.execPath, args: [bin(tool), ...args], env, strict: true };
}

async function smallDeploy(url: string): Promise<boolean> {
  const root = await makeRoot(url, 'acme/small', 1);
  const where = await makeMirror(url, 'acme/small');
  const [floor, git, deploy] = compare(
    [
      FLOOR,
      shell('the same git commands, bare', bareGit(url, 'acme/small', where)),
      ours('deploy, small repository, nothing to build or start', root, 'runner-deploy', ['app0']),
    ],
    rounds,
  );
  if (!floor || !git || !deploy) return false;
  const own = added('what the deploy adds to git', deploy, git, 3);
  return printTable('One deploy', [floor, git, deploy, own]);
}

async function fetchOfMany(url: string): Promise<boolean> {
  const root = await makeRoot(url, 'acme/small', APPS);
  for (let number = 0; number < APPS; number += 1) {
    const done = await run('runner-deploy', [`app${number}`], { root });
    if (done.status !== 0) throw new Error(done.stderr);
  }
  const listing = `seq ${APPS} | xargs -P ${AT_ONCE} -I% git ls-remote --quiet ${url}/acme/small.git refs/heads/main 'refs/tags/*'`;
  return printTable(
    `Nothing new in ${APPS} apps`,
    compare(
      [
        shell(`${APPS} × git ls-remote, ${AT_ONCE} at a time`, listing),
        {
          ...ours(`fetch --deploy, ${APPS} apps`, root, 'runner-fetch', ['--deploy', '--quiet']),
          budget: 1.5,
        },
      ],
      Math.ceil(rounds / 3),
    ),
  );
}

async function largeDeploy(url: string): Promise<boolean> {
  const root = await makeRoot(url, 'acme/large', 1);
  const first = await run('runner-deploy', ['app0'], { root, timeout: 300_000 });
  if (first.status !== 0) throw new Error(first.stderr);
  const mirror = join(root, 'apps/app0/repo.git');
  const out = join(temporaryFolder('bench'), 'out');
  // A deploy removes the release before the last one; so does the bare one.
  const bare = `rm -rf ${out}; mkdir ${out}; git -C ${mirror} archive --format=tar refs/runner/head | tar -x -f - -C ${out}`;
  return printTable(
    `A repository of ${FILES.toLocaleString('en')} files`,
    compare(
      [
        shell('rm -rf, git archive, tar x, bare', bare),
        { ...ours('deploy', root, 'runner-deploy', ['app0']), budget: 1.3 },
      ],
      Math.max(3, Math.ceil(rounds / 3)),
    ),
  );
}

async function main(): Promise<void> {
  const server: ChildProcess = spawn(
    process.execPath,
    [__filename, 'serve', ...process.argv.slice(2)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  if (!server.stdout) throw new Error('the git server has no output');
  const [address] = (await once(server.stdout, 'data')) as [Buffer];
  const url = address.toString('utf8').trim();
  printSetting('Deploying', rounds);
  const kept = [await smallDeploy(url), await fetchOfMany(url)];
  if (option('no-large') === -1) kept.push(await largeDeploy(url));
  server.kill();
  await switchGap(rounds);
  kept.push(await muteChat());
  if (kept.includes(false)) process.exitCode = 1;
}

void (process.argv[2] === 'serve' ? serve() : main());
