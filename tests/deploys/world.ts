/** A server to deploy on: a git host that demands the token, an app, a root, and a way to look. */
import { existsSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { appFiles, freePort, killApp, page } from '@runner/testing/app';
import { atExit } from '@runner/testing/cleanup';
import type { Files } from '@runner/testing/git-import';
import { type GitServer, startGitServer } from '@runner/testing/git-server';
import { type Ended, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';

/** Of this process alone: another test that runs meanwhile must not show it in its command lines. */
export const TOKEN = `ghp_w0rld${String(process.pid).padStart(31, 'w0rld')}`;
export const REPO = 'acme/shop';

/** What a version has beside the small HTTP app, which is healthy by default. */
interface PushOptions {
  readonly health?: number;
  readonly deploy?: string;
  readonly files?: Files;
}

export interface World {
  readonly root: string;
  readonly port: number;
  readonly git: GitServer;
  /** Commits a version of the small HTTP app with this `.deploy.yml` (default: a healthy one). */
  push(version: string, options?: PushOptions): Promise<string>;
  /** Commits a version and deploys it; throws what a deploy that fails has printed. */
  launch(version: string, options?: PushOptions): Promise<Ended>;
  deploy(args?: readonly string[], env?: Record<string, string>): Promise<Ended>;
  /** What the app answers on `/`; null when nobody answers. */
  page(): Promise<string | null>;
  /** Target of `current` of the instance `default`; null when there is none. */
  current(): string | null;
  state(): Record<string, unknown>;
  /** The audit log's records, oldest first. */
  events(): Record<string, unknown>[];
  /** Kinds of the records, oldest first. */
  kinds(): unknown[];
  close(): Promise<void>;
}

/** A `.deploy.yml` that starts the small HTTP app and asks for its health. */
export function deployFile(port: number, more = ''): string {
  return `instances: { default: { env: { PORT: "${port}" } } }
start: { type: process, run: exec node server.js }
health: { url: "http://127.0.0.1:\${PORT}/health", interval: 50ms, within: 60s }
${more}`;
}

/** The same for a version that will not be healthy: it is soon given up, when it has answered or not. */
export function impatient(port: number, more = ''): string {
  return deployFile(port, more).replace('within: 60s', 'within: 300ms');
}

/** A build that goes on until it is let go. */
export interface Gate {
  /** The key `build` of a `.deploy.yml`. */
  readonly build: string;
  /** Resolves when the build is there. */
  readonly reached: () => Promise<void>;
  readonly open: () => void;
}

/** Holds a deploy up while it builds. */
export function gate(): Gate {
  const folder = temporaryFolder('gate');
  const [there, go] = [join(folder, 'there'), join(folder, 'go')];
  return {
    build: `build: "touch '${there}'; while test ! -e '${go}'; do sleep 0.05; done"\n`,
    reached: () => until(() => existsSync(there), 'no build has come to the gate'),
    open: () => writeFileSync(go, ''),
  };
}

/**
 * Makes a world with a registered app `shop`; `old` is the git server's way. `parent`: `/tmp` where the
 * path of a socket below the root must stay short.
 */
export async function makeWorld({
  old = false,
  token = TOKEN,
  parent = undefined as string | undefined,
} = {}): Promise<World> {
  const root = join(temporaryFolder('root', parent), 'root');
  mkdirSync(root);
  const git = await startGitServer({ token, old });
  await git.createRepo(REPO);
  const port = await freePort();
  writeFileSync(join(root, 'config.yml'), `code_host_git_url: ${git.url}\nretry_after: [0s]\n`, {
    mode: 0o600,
  });
  const added = await run('runner-add', ['--repo', REPO, '--branch', 'main', '--token', '-'], {
    root,
    stdin: token,
  });
  if (added.status !== 0) throw new Error(added.stderr);
  const forget = atExit(() => killApp(root, 'shop'));
  const instance = join(root, 'apps/shop/instances/default');
  const read = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
  const events = () =>
    read(join(root, 'logs/deploy-events.jsonl'))
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const push: World['push'] = (version, { health, deploy, files } = {}) =>
    git.commit(
      REPO,
      {
        ...appFiles(version, health === undefined ? {} : { health }),
        '.deploy.yml': deploy ?? deployFile(port),
        ...files,
      },
      version,
      { tag: version },
    );
  const deploy: World['deploy'] = (args = [], env = {}) =>
    run('runner-deploy', ['shop', ...args], { root, env });
  return {
    root,
    port,
    git,
    push,
    async launch(...given) {
      await push(...given);
      const done = await deploy();
      if (done.status !== 0) throw new Error(done.stderr);
      return done;
    },
    deploy,
    page: () => page(port),
    current() {
      try {
        return readlinkSync(join(instance, 'current'));
      } catch {
        return null;
      }
    },
    state: () => JSON.parse(read(join(root, 'state/shop.json'))) as Record<string, unknown>,
    events,
    kinds: () => events().map((event) => event.event_type),
    async close() {
      killApp(root, 'shop');
      forget();
      await git.close();
    },
  };
}

/** A suite of tests each of which has what `make` makes. */
export function suiteOf<W extends { close(): Promise<void> }>(
  name: string,
  make: () => Promise<W>,
) {
  const test = suite<{ world: W }>(name);
  test.before.each(async (context) => {
    context.world = await make();
  });
  test.after.each(({ world }) => world.close());
  return test;
}

/** A suite of tests each of which has a server. */
export const worldSuite = (name: string) => suiteOf(name, () => makeWorld());

/** A world for one test. */
export async function inWorld(body: (world: World) => Promise<void>): Promise<void> {
  const world = await makeWorld();
  try {
    await body(world);
  } finally {
    await world.close();
  }
}
