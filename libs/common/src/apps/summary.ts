/** What `list` and `status` show of an app: its state without the sealed token. */
import { existsSync } from 'node:fs';
import type { RetryPolicy } from '../config/settings.ts';
import { liveHolder } from '../files/lock.ts';
import { bootId, isRunning } from '../files/process.ts';
import type { Paths } from '../foundation/paths.ts';
import { inWords } from '../text/time.ts';
import { followedWords, newsWords } from './following.ts';
import { headState, retryWait } from './retries.ts';
import { type Draining, liveRun, liveSlot, type SlotName } from './slots.ts';
import {
  type AppState,
  type CheckFailed,
  type Deployed,
  type Deploying,
  type InstanceState,
  type LastFailure,
  type Paused,
  pauseOf,
  type Stopped,
  type TagRule,
} from './state.ts';
import { versionArgument } from './versions.ts';

/** One instance of an app. */
export interface InstanceSummary {
  instance: string;
  current: Deployed | null;
  /** When `current` became active; null without one. */
  active_since: string | null;
  /** Who made it active; null if that is not known. */
  active_by: string | null;
  /** Whether it runs; null if its supervisor cannot know, did not answer or was not asked. */
  running: boolean | null;
  /** An operator stopped it. */
  stopped: boolean;
  /** Since when and why no version could be started. */
  broken: { since: string; reason: string } | null;
  previous: Deployed[];
  /** The slot that gets the requests; absent without `traffic`. */
  live?: SlotName;
  /** The slot that finishes its last requests. */
  draining?: Draining;
  /** What ran without `traffic` and still does. */
  before_traffic?: Deployed;
}

/** One app in `runner list` and `runner status`. */
export interface AppSummary {
  app: string;
  /** Name of the code host; absent for `default`. */
  host?: string;
  repo: string;
  /** Empty while tags are followed. */
  branch: string;
  tags: TagRule | null;
  /** Only what changes one of these pathspecs is deployed; null: any commit. */
  paths: string[] | null;
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
  /** Since when, by whom and why instances are stopped. */
  stopped: Stopped | null;
  /** Since when, by whom, until when and why fetch deploys nothing. */
  paused: Paused | null;
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
 * The states, of which the first that holds is shown. `deploying`: a deploy is running; `interrupted`:
 * its process died, the next command cleans up, or an operator ended the last deploy; `broken`: a
 * version failed, and the previous one could not be restarted; `down`: an instance does not run;
 * `blocked`: the newest commit failed too often; `stale`: `fetch` cannot find out what is new;
 * `failing`: the last deploy failed; `stopped`: an operator stopped an instance; `paused`: fetch deploys
 * nothing; `held`: the newest commit is on hold after a manual rollback;
 * `new`: never deployed; `ok`: the last deploy succeeded.
 */
export type StateWord =
  | 'deploying'
  | 'interrupted'
  | 'broken'
  | 'down'
  | 'blocked'
  | 'stale'
  | 'failing'
  | 'stopped'
  | 'paused'
  | 'held'
  | 'new'
  | 'ok';

/** The states that need an operator: `runner status --check` fails in them. */
const UNHEALTHY: readonly StateWord[] = ['broken', 'down', 'blocked', 'stale'];

/** Whether an app is in no state that needs an operator. */
export function isHealthy({ state }: AppSummary): boolean {
  return !UNHEALTHY.includes(state);
}

/** What a summary depends on beside the state. */
export interface View {
  /** Matters only after a failure. */
  readonly retries: RetryPolicy;
  readonly now: Date;
  /** Whether an instance runs, as its supervisor says. Without it only processes of our own are known. */
  runs?(app: string, instance: string): boolean | null;
  /** The processes of an instance that a supervisor runs, as far as it names them. */
  pids?(app: string, instance: string): readonly number[];
}

/** Summarises a state. */
export function summaryOf(paths: Paths, app: AppState, view: View): AppSummary {
  const instances = Object.entries(app.instances).map(([name, instance]) =>
    instanceSummary(paths, app, name, instance, view),
  );
  const state = stateOf(app, instances, view);
  const { pid, command, since } = liveHolder(paths.lock(app.app)) ?? {};
  return {
    app: app.app,
    ...(app.host !== undefined && { host: app.host }),
    repo: app.repo,
    branch: app.branch,
    tags: app.tags ?? null,
    paths: app.paths ?? null,
    token: Boolean(app.state.repohost_token),
    state,
    instances,
    failures: app.failures,
    last_failure: newestFailure(app),
    max_deploy_retries: view.retries.max,
    held: app.held,
    stopped: app.stopped ?? null,
    paused: pauseOf(app, view.now),
    deploying: app.deploying,
    lock:
      pid === undefined
        ? null
        : { pid, command: String(command ?? ''), since: String(since ?? '') },
    next: nextOf(app, state, instances, view),
    last_checked: app.last_checked,
    check_failed: app.check_failed ?? null,
    created_at: app.created_at,
    updated_at: app.updated_at,
  };
}

function instanceSummary(
  paths: Paths,
  { app, stopped }: AppState,
  instance: string,
  { current, active_since, active_by, broken, previous, draining, before_traffic }: InstanceState,
  { runs }: View,
): InstanceSummary {
  const live = liveSlot(paths.app(app).instance(instance));
  return {
    instance,
    current,
    active_since: current && (active_since ?? current.deployed_at),
    active_by: (current && active_by) ?? null,
    running:
      current &&
      (isRunning(liveRun(paths.app(app).instance(instance))) ?? runs?.(app, instance) ?? null),
    stopped: stopped?.instances.includes(instance) ?? false,
    broken: broken ?? null,
    previous,
    ...(live && { live }),
    ...(draining && { draining }),
    ...(before_traffic && { before_traffic }),
  };
}

/** The failure that came last: of a deploy, or of a rollback by hand. */
function newestFailure({ last_failure: deploy, last_rollback_failure: rollback }: AppState) {
  const isRollback = rollback && (!deploy || deploy.at < rollback.at);
  return (isRollback ? rollback : deploy) ?? null;
}

function stateOf(
  app: AppState,
  instances: readonly InstanceSummary[],
  { retries: { max: maxRetries }, now }: View,
): StateWord {
  if (app.deploying) return isAlive(app.deploying) ? 'deploying' : 'interrupted';
  if (instances.some(({ broken }) => broken)) return 'broken';
  if (instances.some(({ running, stopped }) => running === false && !stopped)) return 'down';
  const head = headState(app, maxRetries);
  if (head === 'blocked') return 'blocked';
  if (app.check_failed) return 'stale';
  if (head === 'due') return wasInterrupted(app) ? 'interrupted' : 'failing';
  if (app.stopped) return 'stopped';
  if (pauseOf(app, now)) return 'paused';
  if (app.held) return 'held';
  return instances.some(({ current }) => current) ? 'ok' : 'new';
}

/** Failures of the branch's head; states written by 0.1.0 have no head. */
function headFailures({ failures, head = failures?.commit }: AppState): AppState['failures'] {
  return failures?.commit === head ? failures : null;
}

/** Whether an operator ended the newest deploy, and the head has not failed. */
function wasInterrupted(app: AppState): boolean {
  const { last_failure: failure, head } = app;
  return !headFailures(app) && failure?.commit === head && failure?.interrupted === true;
}

/** The command that restarts an instance. */
function startAgain(app: string, each: InstanceSummary, among: number): string {
  const { instance, current, previous, broken } = each;
  if (!current) return `runner deploy ${app}`;
  const only = among > 1 ? ` --instance ${instance}` : '';
  if (!broken) return `runner start ${app}${only}`;
  return `runner rollback ${app} --to ${versionArgument(current, previous)}${only}`;
}

function nextOf(
  app: AppState,
  state: StateWord,
  instances: readonly InstanceSummary[],
  { retries, now }: View,
): string {
  const { app: name, attempts, held } = app;
  const news = newsWords(app);
  const failures = headFailures(app);
  const retry = () => {
    const wait = retryWait(app, attempts?.commit ?? '', retries, now);
    if (wait === 0) return 'the next fetch --deploy tries again';
    return `fetch --deploy waits, retry in ${inWords(wait)}`;
  };
  switch (state) {
    case 'deploying':
      return `${app.deploying?.rollback ? 'a rollback' : 'a deploy'} is running`;
    case 'interrupted':
      if (!app.deploying) return retry();
      return 'the next deploy, rollback or fetch --deploy cleans up first';
    case 'broken':
    case 'down': {
      const bad = instances.filter(
        ({ broken, running, stopped }) => broken || (running === false && !stopped),
      );
      const commands = bad.map((each) => startAgain(name, each, instances.length));
      return `not restarted automatically; run: ${commands.join('; ')}`;
    }
    case 'blocked':
      return `blocked until the next ${news}; by hand: runner deploy ${name}`;
    case 'stale':
      return `nothing new is deployed until fetch can check ${followedWords(app)} again`;
    case 'failing': {
      const used = failures
        ? `${failures.count} of ${retries.max} attempts used; `
        : 'the failure does not count: ';
      return `${used}${retry()}`;
    }
    case 'stopped':
      return `nothing until runner start ${name}`;
    case 'paused': {
      const { until } = app.paused ?? {};
      return until
        ? `paused until ${until}; sooner: runner resume ${name}`
        : `paused until runner resume ${name}`;
    }
    case 'held':
      return `held until the next ${news}: ${held?.reason}`;
    case 'new':
      return `the next fetch --deploy; by hand: runner deploy ${name}`;
    default:
      return `the next ${news}`;
  }
}

/** The deploy or rollback of an app that runs now. */
export function runningDeploy({ deploying }: AppState): Deploying | undefined {
  return deploying && isAlive(deploying) ? deploying : undefined;
}

/** Whether the process of a deploy still runs, for display only: the lock decides. */
function isAlive({ pid, boot_id: boot }: Deploying): boolean {
  const current = bootId();
  return current === '' || (current === boot && existsSync(`/proc/${pid}`));
}
