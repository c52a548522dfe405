/** What is told about an app: everything in its state but the sealed token. */
import { existsSync, readFileSync } from 'node:fs';
import type { AppState, Deployed, Deploying, LastFailure } from './apps.ts';
import { liveHolder } from './lock.ts';
import type { Paths } from './paths.ts';

/** One app in `runner list` and `runner status`. */
export interface AppSummary {
  app: string;
  repo: string;
  branch: string;
  /** Whether a token is stored. */
  token: boolean;
  /** One word, see `StateWord`; what `list` shows. */
  state: StateWord;
  instances: { instance: string; current: Deployed | null; previous: Deployed[] }[];
  failures: AppState['failures'];
  last_failure: LastFailure | null;
  /** Failures of one commit after which automatic deploys of it stop. */
  max_deploy_retries: number;
  held: AppState['held'];
  deploying: AppState['deploying'];
  /** Who holds the app's lock now. */
  lock: { pid: number; command: string; since: string } | null;
  /** What decides about the next automatic deploy, in words. */
  next: string;
  last_checked: string | null;
  created_at: string;
  updated_at: string;
}

/**
 * `deploying`: a deploy is under way; `interrupted`: its process died, the next command cleans up;
 * `blocked`: the newest commit failed too often;
 * `held`: its newest commit was rolled back by hand; `failing`: its last deploy failed; `ok`: its
 * last deploy succeeded; `new`: never deployed.
 */
export type StateWord = 'deploying' | 'interrupted' | 'blocked' | 'held' | 'failing' | 'ok' | 'new';

/** Summarises a state; `maxRetries` is asked only for an app that has failed. */
export function summaryOf(paths: Paths, app: AppState, maxRetries: number): AppSummary {
  const state = wordFor(app, maxRetries);
  const { pid, command, since } = liveHolder(paths.lock(app.app)) ?? {};
  return {
    app: app.app,
    repo: app.repo,
    branch: app.branch,
    token: Boolean(app.state.repohost_token),
    state,
    instances: Object.entries(app.instances).map(([instance, { current, previous }]) => ({
      instance,
      current,
      previous,
    })),
    failures: app.failures,
    last_failure: app.last_failure ?? null,
    max_deploy_retries: maxRetries,
    held: app.held,
    deploying: app.deploying,
    lock:
      pid === undefined
        ? null
        : { pid, command: String(command ?? ''), since: String(since ?? '') },
    next: nextOf(app, state, maxRetries),
    last_checked: app.last_checked,
    created_at: app.created_at,
    updated_at: app.updated_at,
  };
}

function wordFor(app: AppState, maxRetries: number): StateWord {
  if (app.deploying) return isAlive(app.deploying) ? 'deploying' : 'interrupted';
  if (app.failures) return app.failures.count >= maxRetries ? 'blocked' : 'failing';
  if (app.held) return 'held';
  return Object.values(app.instances).some((instance) => instance.current) ? 'ok' : 'new';
}

function nextOf(app: AppState, state: StateWord, maxRetries: number): string {
  const { app: name, branch, failures, held } = app;
  switch (state) {
    case 'deploying':
      return `${app.deploying?.rollback ? 'a rollback' : 'a deploy'} is running`;
    case 'interrupted':
      return 'the next deploy, rollback or fetch --deploy cleans up first';
    case 'blocked':
      return `blocked until the next push to ${branch}; by hand: runner deploy ${name}`;
    case 'failing':
      return `${failures?.count} of ${maxRetries} attempts used; the next fetch --deploy tries again`;
    case 'held':
      return `held until the next push to ${branch}: ${held?.reason}`;
    case 'new':
      return `the next fetch --deploy; by hand: runner deploy ${name}`;
    default:
      return `the next push to ${branch}`;
  }
}

/** Whether the process that is named still runs: of this boot, and there. The lock decides; this tells. */
function isAlive({ pid, boot_id: boot }: Deploying): boolean {
  try {
    return (
      readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim() === boot &&
      existsSync(`/proc/${pid}`)
    );
  } catch {
    return true;
  }
}
