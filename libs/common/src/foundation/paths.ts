/** The layout under the runner's root. No file outside the root is written. */
import { isAbsolute, join, resolve } from 'node:path';
import type { Env, Io } from './io.ts';

/** The root without `--root` and RUNNER_ROOT. */
export const DEFAULT_ROOT = '/opt/runner';

/** Files and folders of a root, all absolute. */
export interface Paths {
  readonly root: string;
  readonly config: string;
  readonly mkey: string;
  /** The private key that signs what releases were when they were made. */
  readonly statementKey: string;
  readonly stateDir: string;
  readonly secretsDir: string;
  /** What members of the group runner-view may read. */
  readonly viewDir: string;
  readonly logsDir: string;
  readonly auditLog: string;
  readonly fetchLog: string;
  /** When a backup was last made. */
  readonly lastBackup: string;
  readonly auditSpool: string;
  readonly notifySpool: string;
  /** The socket of the process that wakes sleeping apps. */
  readonly wakerSocket: string;
  /** Plans that wait for an approval, are applied, or ended a short time ago. */
  readonly plansDir: string;
  readonly plansLock: string;
  readonly locksDir: string;
  readonly registryLock: string;
  plan(id: string): string;
  state(app: string): string;
  secrets(app: string): string;
  view(app: string): string;
  /** Of its jobs. Its ending is not that of an app's view. */
  viewOfJobs(app: string): string;
  lock(app: string): string;
  /** Names the deploy of an app that a fetch is to end. */
  cancel(app: string): string;
  /** Held by the process that watches a release of the app. */
  watchLock(app: string): string;
  /** Held by the process that holds the requests of the app. */
  holdLock(app: string): string;
  /** Held while a database is migrated. */
  databaseLock(fingerprint: string): string;
  /** Held while what is known of the jobs of an app is changed. */
  jobBookLock(app: string): string;
  /** Held by the process that runs the job. */
  jobLock(app: string, job: string): string;
  /** Folder of the logs of a job's runs. */
  jobLogs(app: string, job: string): string;
  app(app: string): AppPaths;
  deployLog(app: string, deployId: string): string;
  deployLogs(app: string): string;
}

/** A root, and the process that works on it. */
export interface Server {
  readonly io: Io;
  readonly paths: Paths;
}

/** Files and folders of an app. */
export type AppPaths = ReturnType<typeof appPaths>;

/** Files and folders of an instance. */
export interface InstancePaths {
  readonly dir: string;
  /** Relative symbolic link to the active release. */
  readonly current: string;
  readonly shared: string;
  readonly run: string;
}

/** The root, absolute: `--root`, then RUNNER_ROOT, then /opt/runner. */
export function chooseRoot(option: string | undefined, env: Env, cwd: () => string): string {
  const chosen = option || env.RUNNER_ROOT || DEFAULT_ROOT;
  // A deleted working directory has no path.
  return isAbsolute(chosen) ? resolve(chosen) : resolve(cwd(), chosen);
}

/** The layout under a root, which is absolute and normalized; see `docs/files.md`. */
export function pathsOf(root: string): Paths {
  const base = root === '/' ? '' : root;
  const at = (path: string) => `${base}/${path}`;
  return {
    root,
    config: at('config.yml'),
    mkey: at('mkey'),
    statementKey: at('statement.key'),
    stateDir: at('state'),
    secretsDir: at('secrets'),
    viewDir: at('view'),
    logsDir: at('logs'),
    auditLog: at('logs/deploy-events.jsonl'),
    fetchLog: at('logs/fetch.log'),
    lastBackup: at('logs/last-backup'),
    auditSpool: at('spool/audit'),
    notifySpool: at('spool/notify'),
    wakerSocket: at('waker/app.sock'),
    plansDir: at('plans'),
    plansLock: at('locks/.plans.lock'),
    plan: (id) => at(`plans/${id}.json`),
    locksDir: at('locks'),
    registryLock: at('locks/registry.lock'),
    state: (app) => at(`state/${app}.json`),
    secrets: (app) => at(`secrets/${app}.json`),
    view: (app) => at(`view/${app}.json`),
    viewOfJobs: (app) => at(`view/${app}.jobs`),
    lock: (app) => at(`locks/${app}.lock`),
    cancel: (app) => at(`locks/${app}.cancel`),
    databaseLock: (fingerprint) => at(`locks/database-${fingerprint}`),
    jobBookLock: (app) => at(`locks/jobs/${app}/.book`),
    jobLock: (app, job) => at(`locks/jobs/${app}/${job}`),
    jobLogs: (app, job) => at(`logs/jobs/${app}/${job}`),
    watchLock: (app) => at(`locks/${app}.watch`),
    holdLock: (app) => at(`locks/${app}.hold`),
    app: (app) => appPaths(at(`apps/${app}`)),
    deployLog: (app, deployId) => at(`logs/deploys/${app}/${deployId}.log`),
    deployLogs: (app) => at(`logs/deploys/${app}`),
  };
}

function appPaths(dir: string) {
  return {
    dir,
    repo: join(dir, 'repo.git'),
    releases: join(dir, 'releases'),
    instances: join(dir, 'instances'),
    /** HOME of every command that the repository decides. */
    home: join(dir, 'home'),
    /** What the last successful deploy printed, in shapes. */
    baseline: join(dir, 'baseline.json'),
    /** What is known of the release that is watched. */
    watch: join(dir, 'watch.json'),
    /** What is known of its jobs. */
    jobs: join(dir, 'jobs.json'),
    release: (name: string) => join(dir, 'releases', name),
    /** The schema of its database, as the last deploy left it. */
    schema: join(dir, 'schema.json'),
    /** Folder of the sealed backups of its database. */
    databaseBackups: join(dir, 'database'),
    databaseBackup: (id: string) => join(dir, 'database', `${id}.age`),
    /** `.deploy.yml` with which a release was made; empty: without one. */
    fileOf: (release: string) => join(dir, 'files', `${release}.deploy.yml`),
    /** The signed statement of what a release was when it was made. */
    statementOf: (release: string) => join(dir, 'files', `${release}.statement.json`),
    /** What was in it, an entry a line. */
    treeOf: (release: string) => join(dir, 'files', `${release}.tree`),
    instance: (name: string): InstancePaths => {
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
