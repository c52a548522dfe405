/** Pushes whose calls come in random order, twice or not at all, while deploys run. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@runner/testing/app';
import { type GitServer, startGitServer } from '@runner/testing/git-server';
import { run, start } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
import { headersOf, send } from './clients.ts';
import { randomFrom } from './forged.ts';

const REPO = 'acme/shop';
const BODY = '{"ref":"refs/heads/main"}';

/** What became of the pushes. */
export interface Tally {
  pushes: number;
  calls: number;
  /** By the records of DeployStarted. */
  deploys: number;
  /** Rounds after which the last commit was deployed. */
  right: number;
}

interface Server {
  readonly git: GitServer;
  readonly root: string;
  readonly dir: string;
  readonly port: number;
  readonly secret: string;
}

async function succeeded(root: string, tool: string, ...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await run(tool, args, { root });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

async function makeServer(): Promise<Server> {
  const [root, dir] = [temporaryFolder('root'), temporaryFolder('bell')];
  const git = await startGitServer();
  await git.createRepo(REPO, { public: true });
  writeFileSync(join(root, 'config.yml'), `code_host_git_url: ${git.url}\n`, { mode: 0o600 });
  await succeeded(root, 'runner-add', '--repo', REPO, '--branch', 'main', '--public');
  const added = await succeeded(root, 'runner-bell', 'add', 'shop', '--dir', dir, '--json');
  for (const each of ['wake', 'last']) mkdirSync(join(dir, each), { recursive: true });
  return { git, root, dir, port: await freePort(), secret: JSON.parse(added).secret };
}

/** The commit that is deployed. */
function active({ root }: Server): string | undefined {
  const state = JSON.parse(readFileSync(join(root, 'state/shop.json'), 'utf8'));
  return state.instances.default?.current?.commit;
}

/** Where the pushes and the calls go. */
export interface Site {
  /** Returns the commit. */
  push(name: string): Promise<string>;
  /** One signed call. */
  call(): Promise<void>;
  isDeployed(commit: string): boolean | Promise<boolean>;
}

/** Of each push one call in ten is lost, and every second comes twice; all in random order. */
export async function stormOn(
  { push, call, isDeployed }: Site,
  rounds: number,
  seed: number,
): Promise<Omit<Tally, 'deploys'>> {
  const random = randomFrom(seed);
  const tally = { pushes: 0, calls: 0, right: 0 };
  for (let round = 0; round < rounds; round += 1) {
    let head = '';
    const calls: Promise<void>[] = [];
    for (let left = 1 + random(4); left > 0; left -= 1) {
      head = await push(`${round} ${left}`);
      tally.pushes += 1;
      const times = random(10) === 0 ? 0 : 1 + random(2);
      for (let time = 0; time < times; time += 1) calls.push(after(random(300), call));
    }
    await Promise.all(calls);
    tally.calls += calls.length;
    await until(() => isDeployed(head), 'the last commit is not deployed');
    tally.right += 1;
  }
  return tally;
}

/** A storm on a bell that listens, and the loop that fetches. */
export async function storm(rounds: number, seed: number): Promise<Tally> {
  const server = await makeServer();
  const { git, root, dir, port } = server;
  const address = ['--listen', `127.0.0.1:${port}`, '--dir', dir];
  const bell = start('runner-bell', address, { root, timeout: 86_400_000 });
  await until(
    async () => (await send(port, { path: '/', method: 'GET' })).status === 405,
    'no bell',
  );
  let isGoing = true;
  // What runner-bell.path does, and the timer: its turn comes here after 2 s.
  const fetching = (async () => {
    while (isGoing) {
      await succeeded(root, 'runner-bell', 'wait', '--timeout', '2s', '--dir', dir);
      await succeeded(root, 'runner-fetch', '--deploy', '--quiet');
    }
  })();
  const site: Site = {
    push: (name) => git.commit(REPO, { 'version.txt': name }, name),
    isDeployed: (commit) => active(server) === commit,
    async call() {
      const headers = headersOf('github', server.secret, BODY);
      const { status } = await send(port, { path: '/shop', headers, body: BODY });
      if (status !== 202) throw new Error(`the bell answers ${status}`);
    },
  };
  const tally = await stormOn(site, rounds, seed);
  isGoing = false;
  await fetching;
  bell.kill();
  await bell.done;
  await git.close();
  const log = join(root, 'logs/deploy-events.jsonl');
  const records = existsSync(log) ? readFileSync(log, 'utf8') : '';
  return { ...tally, deploys: records.split('"DeployStarted"').length - 1 };
}

const after = async (milliseconds: number, work: () => Promise<void>) => {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  await work();
};
