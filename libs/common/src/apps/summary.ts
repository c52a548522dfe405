/** What `list` and `status` show of an app: its state without the sealed token. */
import { existsSync } from 'node:fs';
import { liveHolder } from '../files/lock.ts';
import { bootId, isRunning } from '../files/process.ts';
import type { Paths } from '../foundation/paths.ts';
import {
  type AppState,
  type CheckFailed,
  type Deployed,
  type Deploying,
  type InstanceState,
  isHeld,
  type LastFailure,
} from './state.ts';

/** One instance of an app. */
export interface InstanceSummary {
  instance: string;
  current: Deployed | null;
  /** When `current` became active; null without one. */
  active_since: string | null;
  /** Whether its process runs; null unless `start.type` is `process`. */
  running: boolean | null;
  /** Since when and why no version could be started. */
  broken: { since: string; reason: string } | null;
  previous: Deployed[];
}

/** One app in `runner list` and `runner status`. */
export interface AppSummary {
  app: string;
  repo: string;
  branch: string;
  /** Whether a token is stored. */
  token: boolean;
  /** One word, which `list` shows. */
  state: StateWord;
  instances: InstanceSummary[];
  failures: AppState['failures'];
  last_failure: LastFailure | null;
  /** Failures of one commit after which automatic deploys of it stop. */
  max_deploy_retries: number;
  held: AppState['held'];
  deploying: AppState['deploying'];
  /** The current holder of the app's lock. */
  lock: { pid: number; command: string; since: string } | null;
  /** When the next automatic deploy happens, in words. */
  next: string;
  last_checked: string | null;
  /** Since when and why `fetch` cannot check for new commits. */
  check_failed: CheckFailed | null;
  created_at: string;
  updated_at: string;
}

/**
 * `deploying`: a deploy is running; `interrupted`: its process died and
 * the next command cleans up, or Ctrl-C ended the last deploy;
 * `broken`: a version failed, and the previous one could not be restarted; `down`: the process of an
 * instance has ended; `blocked`: the newest commit failed too often; `held`: the newest commit is on
 * hold after a manual rollback; `failing`: the last deploy failed; `ok`: it succeeded; `new`: never
 * deployed.
 */
export type StateWord =
  | 'deploying'
  | 'interrupted'
  | 'broken'
  | 'down'
  | 'blocked'
  | 'held'
  | 'failing'
  | 'ok'
  | 'new';

/** Summarises a state; `maxRetries` matters only after a failure. */
export function summaryOf(paths: Paths, app: AppState, maxRetries: number): AppSummary {
  const instances = Object.entries(app.instances).map(([name, instance]) =>
    instanceSummary(paths, app.app, name, instance),
  );
  const state = wordFor(app, instances, maxRetries);
  const { pid, command, since } = liveHolder(paths.lock(app.app)) ?? {};
  return {
    app: app.app,
    repo: app.repo,
    branch: app.branch,
    token: Boolean(app.state.repohost_token),
    state,
    instances,
    failures: app.failures,
    last_failure: app.last_failure ?? null,
    max_deploy_retries: maxRetries,
    held: app.held,
    deploying: app.deploying,
    lock:
      pid === undefined
        ? null
        : { pid, command: String(command ?? ''), since: String(since ?? '') },
    next: nextOf(app, state, instances, maxRetries),
    last_checked: app.last_checked,
    check_failed: app.check_failed ?? null,
    created_at: app.created_at,
    updated_at: app.updated_at,
  };
}

function instanceSummary(
  paths: Paths,
  app: string,
  instance: string,
  { current, active_since, broken, previous }: InstanceState,
): InstanceSummary {
  return {
    instance,
    current,
    active_since: current && (active_since ?? current.deployed_at),
    running: current && isRunning(paths.app(app).instance(instance).run),
    broken: broken ?? null,
    previous,
  };
}

function wordFor(
  app: AppState,
  instances: readonly InstanceSummary[],
  maxRetries: number,
): StateWord {
  if (app.deploying) return isAlive(app.deploying) ? 'deploying' : 'interrupted';
  if (instances.some(({ broken }) => broken)) return 'broken';
  if (instances.some(({ running }) => running === false)) return 'down';
  if (app.failures && !isHeld(app, app.failures.commit))
    return app.failures.count >= maxRetries ? 'blocked' : 'failing';
  if (isDueAgain(app, instances)) return app.last_failure?.interrupted ? 'interrupted' : 'failing';
  if (app.held) return 'held';
  return instances.some(({ current }) => current) ? 'ok' : 'new';
}

/**
 * Whether the last deploy failed because of the server (a kill, a full disk) and not of the commit: that
 * does not count, and the next `fetch --deploy` tries again.
 */
function isDueAgain(app: AppState, instances: readonly InstanceSummary[]): boolean {
  const { last_failure: failure, held } = app;
  if (!failure || failure.rollback || isHeld(app, failure.commit)) return false;
  const settled = [...instances.map((each) => each.active_since), held?.since];
  return (
    !instances.some(({ current }) => current?.commit === failure.commit) &&
    settled.every((time) => !time || time < failure.at)
  );
}

/** The command that restarts an instance. */
function startAgain(app: string, { instance, current }: InstanceSummary, among: number): string {
  if (!current) return `runner deploy ${app}`;
  const only = among > 1 ? ` --instance ${instance}` : '';
  return `runner rollback ${app} --to ${current.version}${only}`;
}

function nextOf(
  app: AppState,
  state: StateWord,
  instances: readonly InstanceSummary[],
  maxRetries: number,
): string {
  const { app: name, branch, failures, held } = app;
  switch (state) {
    case 'deploying':
      return `${app.deploying?.rollback ? 'a rollback' : 'a deploy'} is running`;
    case 'interrupted':
      if (!app.deploying) return 'the next fetch --deploy tries again';
      return 'the next deploy, rollback or fetch --deploy cleans up first';
    case 'broken':
    case 'down': {
      const bad = instances.filter(({ broken, running }) => broken || running === false);
      const commands = bad.map((each) => startAgain(name, each, instances.length));
      return `not restarted automatically; run: ${commands.join('; ')}`;
    }
    case 'blocked':
      return `blocked until the next push to ${branch}; by hand: runner deploy ${name}`;
    case 'failing':
      return failures
        ? `${failures.count} of ${maxRetries} attempts used; the next fetch --deploy tries again`
        : 'the failure does not count: the next fetch --deploy tries again';
    case 'held':
      return `held until the next push to ${branch}: ${held?.reason}`;
    case 'new':
      return `the next fetch --deploy; by hand: runner deploy ${name}`;
    default:
      return `the next push to ${branch}`;
  }
}

/** Whether the process of a deploy still runs, for display only: the lock decides. */
function isAlive({ pid, boot_id: boot }: Deploying): boolean {
  const current = bootId();
  return current === '' || (current === boot && existsSync(`/proc/${pid}`));
}
