/** A server whose app `shop` has previews, and the code host of its pull requests. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { dirname, join } from 'node:path';
import { runningPid } from '@runner/common/files/process';
import { atExit } from '@runner/testing/cleanup';
import { startGitServer } from '@runner/testing/git-server';
import { startHostApi } from '@runner/testing/host-api';
import type { ApiType, HostApiServer } from '@runner/testing/host-api-types';
import { type Ended, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import * as assert from 'uvu/assert';

export const TOKEN = `ghp_pr3v1ew${String(process.pid).padStart(29, 'pr3v1ew')}`;
export const REPO = 'acme/shop';

export interface PreviewWorld {
  readonly root: string;
  readonly api: HostApiServer;
  /** Commits the app with this text as its page, on a branch; `more` of `.deploy.yml`. */
  commit(branch: string, page: string, more?: string, isPlain?: boolean): Promise<string>;
  /** Opens a pull request, and makes its ref; a fork's branch is not in the repository. */
  open(
    number: number,
    options?: { page?: string; isFork?: boolean; more?: string },
  ): Promise<string>;
  push(
    number: number,
    page: string,
    options?: { isForced?: boolean; more?: string },
  ): Promise<string>;
  close(number: number): void;
  runner(tool: string, ...args: string[]): Promise<Ended>;
  sync(): Promise<Ended>;
  state(app: string): Record<string, never> | undefined;
  /** What a preview answers; null if nothing does. */
  page(key: string): Promise<string | null>;
  /** Asserts what it answers; if that is something else, says all that is known of why. */
  answers(key: string, page: string): Promise<void>;
  /** The processes of a preview's instance. */
  processes(): string[];
  git(...args: string[]): string;
  end(): Promise<void>;
}

const ends: Readonly<Record<ApiType, string>> = {
  github: 'pull/N/head',
  gitea: 'pull/N/head',
  gitlab: 'merge-requests/N/head',
  bitbucket: '',
};

/** The folders through which a proxy reaches the previews. */
export function foldersAbove(root: string): string[] {
  return [dirname(root), root, join(root, 'apps'), join(root, 'apps/shop')];
}

export async function makePreviewWorld(
  type: ApiType = 'github',
  enable = '',
): Promise<PreviewWorld> {
  const root = join(temporaryFolder('pv', '/tmp'), 'r');
  execFileSync('mkdir', [root]);
  const git = await startGitServer({ token: TOKEN });
  git.allow(TOKEN, null);
  await git.createRepo(REPO);
  const api = await startHostApi(type);
  api.tokens.set(TOKEN, { login: 'ada', scopes: ['api', 'write:repository'] });
  writeFileSync(
    join(root, 'config.yml'),
    `code_hosts: {here: {type: ${type}, api_url: "${api.apiUrl}", git_url: "${git.url}"}}\nretry_after: [0s]\n`,
    { mode: 0o600 },
  );
  const last = { synced: '', refused: '' };
  const runner = (tool: string, ...args: string[]) => run(`runner-${tool}`, args, { root });
  const must = async (done: Promise<Ended>) => {
    const ended = await done;
    if (ended.status !== 0) throw new Error(ended.stdout + ended.stderr);
  };
  const plain = (...args: string[]) =>
    execFileSync('git', args, { cwd: git.path(REPO), encoding: 'utf8' }).trim();
  const commit: PreviewWorld['commit'] = (branch, page, more = '', isPlain = false) =>
    git.commit(
      REPO,
      { ...trafficFiles(page), '.deploy.yml': isPlain ? more : `${trafficFile()}${more}` },
      page,
      {
        branch,
      },
    );
  await commit('main', 'main');
  await must(
    run('runner-add', ['--repo', `here:${REPO}`, '--branch', 'main', '--token', '-'], {
      root,
      stdin: TOKEN,
    }),
  );
  await must(runner('deploy', 'shop'));
  const settings = enable === '' ? [] : enable.split(' ');
  await must(
    runner('preview', 'enable', 'shop', '--domain', 'pr-{n}.preview.example.org', ...settings),
  );
  // A proxy that another test runs may pass: else its previews would wait for that.
  for (const path of foldersAbove(root)) chmodSync(path, 0o751);
  const point = (number: number, sha: string) => {
    if (ends[type] !== '')
      plain('update-ref', `refs/${ends[type].replace('N', String(number))}`, sha);
  };
  const head = async (number: number, page: string, isFork: boolean, more?: string) => {
    const branch = `topic-${number}`;
    const sha = await commit(branch, page, more);
    if (isFork) await git.deleteBranch(REPO, branch);
    point(number, sha);
    return sha;
  };
  const folder = (app: string) => join(root, 'apps', app, 'instances/default');
  const pids = () => {
    const found: string[] = [];
    for (const app of existsSync(join(root, 'apps')) ? readdirSync(join(root, 'apps')) : []) {
      for (const slot of ['a', 'b']) {
        const pid = runningPid(join(folder(app), 'run', slot));
        if (pid !== undefined) found.push(`${app} ${slot} ${pid}`);
      }
    }
    return found;
  };
  const page: PreviewWorld['page'] = (key) =>
    new Promise((resolve) => {
      const socketPath = join(folder(`shop--${key}`), 'live/app.sock');
      const asked = request({ socketPath, path: '/', agent: false }, (answer) => {
        let text = '';
        answer.on('data', (chunk) => (text += chunk));
        answer.on('end', () => resolve(text.trim()));
      });
      asked.on('error', (error) => {
        last.refused = String(error);
        resolve(null);
      });
      asked.end();
    });
  const killAll = () => {
    for (const line of pids())
      try {
        // In the sandbox it leads no group of its own; its namespace ends with it.
        process.kill(Number(line.split(' ')[2]), 'SIGKILL');
      } catch {
        // It has ended.
      }
  };
  const forget = atExit(killAll);
  return {
    root,
    api,
    commit,
    runner,
    async open(number, { page = `pr ${number}`, isFork = false, more } = {}) {
      const sha = await head(number, page, isFork, more);
      api.pulls.open({ number, branch: `topic-${number}`, commit: sha, isFork });
      return sha;
    },
    async push(number, page, { isForced = false, more } = {}) {
      const { isFork = false } = api.pulls.pulls.get(number) ?? {};
      const sha = await head(number, page, isFork, more);
      api.pulls.push(number, sha, isForced);
      return sha;
    },
    close: (number) => api.pulls.set(number, false),
    async sync() {
      const ended = await runner('preview', 'sync', 'shop');
      last.synced = `${ended.status}\n${ended.stdout}${ended.stderr}`;
      return ended;
    },
    state(app) {
      const path = join(root, 'state', `${app}.json`);
      return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
    },
    page,
    async answers(key, wanted) {
      const found = await page(key);
      if (found === wanted) return;
      const [why, status] = [
        await runner('why', `shop--${key}`),
        await runner('status', `shop--${key}`),
      ];
      const own = folder(`shop--${key}`);
      const look = 'ls -lR "$0"; tail -n 20 "$0"/run/*/*.log; true';
      const files = execFileSync('sh', ['-c', look, own]);
      const facts = { ...last, pids: pids().join(), why: why.stdout, status: status.stdout, files };
      const text = Object.entries(facts)
        .map(([name, value]) => `${name}: ${value}`)
        .join('\n');
      assert.is(found, wanted, `${key} answers ${found}\n${text}`);
    },
    processes: () => pids().filter((each) => each.includes('--')),
    git: plain,
    async end() {
      killAll();
      forget();
      await git.close();
      await api.close();
    },
  };
}
