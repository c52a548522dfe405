/** Where everything lives under the runner's root. No file outside the root is ever written. */
import { isAbsolute, join, resolve } from 'node:path';
import type { Env } from './io.ts';

/** Where the runner lives unless `--root` or RUNNER_ROOT says otherwise. */
export const DEFAULT_ROOT = '/opt/runner';

/** Files and folders of one root, all absolute. */
export interface Paths {
  readonly root: string;
  readonly config: string;
  readonly mkey: string;
  readonly stateDir: string;
  readonly logsDir: string;
  readonly auditLog: string;
  readonly fetchLog: string;
  readonly auditSpool: string;
  readonly notifySpool: string;
  readonly locksDir: string;
  readonly registryLock: string;
  state(app: string): string;
  lock(app: string): string;
  app(app: string): AppPaths;
  deployLog(app: string, deployId: string): string;
  deployLogs(app: string): string;
}

/** What belongs to one app. */
export interface AppPaths {
  readonly dir: string;
  readonly repo: string;
  readonly releases: string;
  readonly instances: string;
  /** Shapes of what the last good deploy printed. */
  readonly baseline: string;
  release(name: string): string;
  instance(name: string): InstancePaths;
}

/** What belongs to one instance of an app. */
export interface InstancePaths {
  readonly dir: string;
  /** Relative symbolic link to the active release. */
  readonly current: string;
  readonly shared: string;
  readonly run: string;
}

/** Chooses the root: `--root`, then RUNNER_ROOT, then /opt/runner; always absolute. */
export function chooseRoot(option: string | undefined, env: Env, cwd: () => string): string {
  const chosen = option || env.RUNNER_ROOT || DEFAULT_ROOT;
  // Asked only when it is needed: a folder that was deleted cannot be named.
  return isAbsolute(chosen) ? resolve(chosen) : resolve(cwd(), chosen);
}

/** The layout under a root, which is absolute and normalized; see `docs/files.md`. */
export function pathsOf(root: string): Paths {
  // Not join(): every start pays for it, and with thousands of apps as much as for reading their files.
  const base = root === '/' ? '' : root;
  const at = (path: string) => `${base}/${path}`;
  return {
    root,
    config: at('config.yml'),
    mkey: at('mkey'),
    stateDir: at('state'),
    logsDir: at('logs'),
    auditLog: at('logs/deploy-events.jsonl'),
    fetchLog: at('logs/fetch.log'),
    auditSpool: at('spool/audit'),
    notifySpool: at('spool/notify'),
    locksDir: at('locks'),
    registryLock: at('locks/registry.lock'),
    state: (app) => at(`state/${app}.json`),
    lock: (app) => at(`locks/${app}.lock`),
    app: (app) => appPaths(at(`apps/${app}`)),
    deployLog: (app, deployId) => at(`logs/deploys/${app}/${deployId}.log`),
    deployLogs: (app) => at(`logs/deploys/${app}`),
  };
}

function appPaths(dir: string): AppPaths {
  return {
    dir,
    repo: join(dir, 'repo.git'),
    releases: join(dir, 'releases'),
    instances: join(dir, 'instances'),
    baseline: join(dir, 'baseline.json'),
    release: (name) => join(dir, 'releases', name),
    instance: (name) => {
      const instance = join(dir, 'instances', name);
      return {
        dir: instance,
        current: join(instance, 'current'),
        shared: join(instance, 'shared'),
        run: join(instance, 'run'),
      };
    },
  };
}
