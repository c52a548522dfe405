/** What is told about an app: everything in its state but the sealed token. */
import { existsSync, readFileSync } from 'node:fs';
import type { AppState, Deployed, Deploying } from './apps.ts';

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
  /** Failures of one commit after which automatic deploys of it stop. */
  max_deploy_retries: number;
  held: AppState['held'];
  deploying: AppState['deploying'];
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
export function summaryOf(app: AppState, maxRetries: number): AppSummary {
  return {
    app: app.app,
    repo: app.repo,
    branch: app.branch,
    token: Boolean(app.state.repohost_token),
    state: wordFor(app, maxRetries),
    instances: Object.entries(app.instances).map(([instance, { current, previous }]) => ({
      instance,
      current,
      previous,
    })),
    failures: app.failures,
    max_deploy_retries: maxRetries,
    held: app.held,
    deploying: app.deploying,
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
