/** A server with two apps that were deployed, and `runner-remove` run on it. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { appFiles, freePort, killApp, page } from '@runner/testing/app';
import { atExit } from '@runner/testing/cleanup';
import { startGitServer } from '@runner/testing/git-server';
import { type Ended, type RunOptions, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';

export { contentOf } from '@runner/testing/temp';

export const TOKEN = 'ghp_r3m0v3r3m0v3r3m0v3r3m0v3r3m0v3r3m0v3';

/** A root with `shop` and `blog`, registered and never deployed. */
export async function newRoot(): Promise<string> {
  const root = join(temporaryFolder('remove'), 'root');
  for (const app of ['shop', 'blog']) await register(root, app);
  return root;
}

/** Registers `acme/<app>` with a token. */
export async function register(root: string, app: string): Promise<void> {
  const args = ['--repo', `acme/${app}`, '--branch', 'main', '--token', '-'];
  const { status, stderr } = await run('runner-add', args, { root, stdin: TOKEN });
  if (status !== 0) throw new Error(stderr);
}

export interface Server {
  readonly root: string;
  readonly port: number;
  deploy(): Promise<Ended>;
  /** What the app answers; null when nobody does. */
  page(): Promise<string | null>;
  close(): Promise<void>;
}

/** A server on which `shop` has been deployed with `start.type: process` and shares `.env`. */
export async function newServer(): Promise<Server> {
  const root = join(temporaryFolder('remove'), 'root');
  mkdirSync(root);
  const git = await startGitServer({ token: TOKEN });
  const port = await freePort();
  writeFileSync(join(root, 'config.yml'), `code_host_git_url: ${git.url}\n`, { mode: 0o600 });
  await git.createRepo('acme/shop');
  const deployFile = `instances: { default: { env: { PORT: "${port}" } } }
start: { type: process, run: exec node server.js }
health: { url: "http://127.0.0.1:\${PORT}/health", interval: 50ms, within: 60s }
shared: [.env]
`;
  await git.commit('acme/shop', { ...appFiles('v1'), '.deploy.yml': deployFile }, 'v1', {
    tag: 'v1',
  });
  await register(root, 'shop');
  const shared = join(root, 'apps/shop/instances/default/shared');
  mkdirSync(shared, { recursive: true });
  writeFileSync(join(shared, '.env'), 'KEEP=1\n');
  const forget = atExit(() => killApp(root, 'shop'));
  const deploy = () => run('runner-deploy', ['shop'], { root });
  const { status, stderr } = await deploy();
  if (status !== 0) throw new Error(stderr);
  return {
    root,
    port,
    deploy,
    page: () => page(port),
    async close() {
      killApp(root, 'shop');
      forget();
      await git.close();
    },
  };
}

/** `runner-remove` with these arguments on a root. */
export function remove(
  root: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Ended> {
  return run('runner-remove', args, { root, ...options });
}

/** The audit log's text; empty when there is none. */
export function auditLog(root: string): string {
  const path = join(root, 'logs/deploy-events.jsonl');
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}
