/**
 * `npm run bench -- history`: how much the commits that `runner changes` needs take on disk, in a
 * repository of 50,000 commits. `--commits N` makes another number. It measures sizes, so it needs no idle
 * machine.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { startGitServer } from '@runner/testing/git-server';
import { makeRoot, mustRun } from './harness/root.ts';
import { besideServices } from './harness/services.ts';
import { optionGiven, printSetting } from './harness/setting.ts';

const REPO = 'acme/old';
const COMMITS = Number(optionGiven('commits') ?? 50_000);
const DEPLOYS = 40;

/** Adds commits of a small file each to `main`. */
function grow(path: string, from: number, count: number): void {
  const parts: string[] = [];
  for (let number = from; number < from + count; number += 1) {
    const text = `commit ${number}: ${'change '.repeat(number % 12)}\n`;
    const message = `Change number ${number} of the shop\n`;
    const person = `Ada Example <ada@example.org> ${1_600_000_000 + number * 600} +0000`;
    parts.push(
      `commit refs/heads/main\nauthor ${person}\ncommitter ${person}\ndata ${message.length}\n${message}`,
      number === from && from > 0 ? 'from refs/heads/main^0\n' : '',
      `M 100644 inline d${number % 40}/f${number % 997}.txt\ndata ${text.length}\n${text}\n`,
    );
  }
  const options = { cwd: path, input: parts.join(''), maxBuffer: 1 << 26 };
  execFileSync('git', ['fast-import', '--quiet'], options);
}

const kilobytes = (path: string) =>
  Number(execFileSync('du', ['-sk', path], { encoding: 'utf8' }).split('\t')[0]);

async function serve(): Promise<string[]> {
  const git = await startGitServer();
  await git.createRepo(REPO, { public: true });
  grow(git.path(REPO), 0, COMMITS);
  // The server alone does not keep its process alive.
  setInterval(() => git.requests.splice(0), 1000);
  return [git.url, git.path(REPO)];
}

async function measure([url = '', path = '']: readonly string[]): Promise<void> {
  printSetting('What the history of an app takes', 1);
  const root = await makeRoot(`code_host_git_url: ${url}\n`, REPO);
  const history = join(root, 'apps/app0/history.git');
  const row = (what: string) => process.stdout.write(`| ${what} | ${kilobytes(history)} KiB |\n`);
  process.stdout.write(`\n| after | \`du -sk apps/app0/history.git\` |\n|---|---|\n`);
  process.stdout.write(`| (the repository itself) | ${kilobytes(path)} KiB |\n`);
  const first = execFileSync('git', ['rev-list', '--max-parents=0', 'main'], {
    cwd: path,
    encoding: 'utf8',
  }).trim();
  await mustRun('runner-deploy', ['app0'], { root });
  for (let deploy = 1; deploy <= DEPLOYS; deploy += 1) {
    grow(path, COMMITS + deploy * 10, 10);
    await mustRun('runner-deploy', ['app0'], { root });
    if (deploy === 1) row('the second deploy, 10 commits later');
  }
  row(`${DEPLOYS} deploys of 10 commits each`);
  await mustRun('runner-changes', ['app0', first], { root, timeout: 600_000 });
  row('runner changes of all commits');
}

void besideServices(serve, measure);
