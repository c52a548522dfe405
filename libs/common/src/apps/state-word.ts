/** The one word for the state of an app. */
import { bootId, startTimeOf } from '../files/process.ts';
import type { InstanceSummary, View } from './instance-summary.ts';
import { pauseOf } from './operator.ts';
import { removalOf } from './preview.ts';
import { headState } from './retries.ts';
import type { AppState, Deploying } from './state.ts';

/**
 * The states, of which the first that holds is shown. `removed`: a preview whose files are kept, or
 * `removing`: not all of it could be taken back yet; `deploying`: a deploy is running; `interrupted`:
 * its process died, the next command cleans up; `broken`: a version failed, and the previous one could
 * not be restarted; `down`: an instance does not run; `stopped`: an operator stopped every instance;
 * `blocked`: the newest commit failed too often; `stale`: `fetch` cannot find out what is new;
 * `stopped`: an operator stopped an instance; `failing`:
 * the last deploy failed, or `interrupted`: an operator ended it; `paused`: `fetch` deploys nothing;
 * `held`: the newest commit is on hold after a manual rollback; `asleep`: an instance sleeps until the
 * next request; `new`: never deployed; `ok`: the last deploy succeeded.
 */
export type StateWord =
  | 'removed'
  | 'removing'
  | 'deploying'
  | 'interrupted'
  | 'broken'
  | 'down'
  | 'blocked'
  | 'stale'
  | 'stopped'
  | 'failing'
  | 'paused'
  | 'held'
  | 'asleep'
  | 'new'
  | 'ok';

export function stateOf(
  app: AppState,
  instances: readonly InstanceSummary[],
  { retries: { max: maxRetries }, now }: View,
): StateWord {
  const removal = removalOf(app);
  if (removal) return removal;
  if (app.deploying) return isAlive(app.deploying) ? 'deploying' : 'interrupted';
  if (instances.some(({ broken }) => broken)) return 'broken';
  if (instances.some(({ running, stopped }) => running === false && !stopped)) return 'down';
  if (app.stopped && instances.every(({ current, stopped }) => stopped || !current))
    return 'stopped';
  const head = headState(app, maxRetries);
  if (head === 'blocked') return 'blocked';
  if (app.check_failed) return 'stale';
  if (app.stopped) return 'stopped';
  if (head === 'due') return wasInterrupted(app) ? 'interrupted' : 'failing';
  if (pauseOf(app, now)) return 'paused';
  if (app.held) return 'held';
  if (instances.some(({ asleep }) => asleep)) return 'asleep';
  return instances.some(({ current }) => current) ? 'ok' : 'new';
}

/** Failures of the branch's head; states written by 0.1.0 have no head. */
export function headFailures({
  failures,
  head = failures?.commit,
}: AppState): AppState['failures'] {
  return failures?.commit === head ? failures : null;
}

/** Whether an operator ended the newest deploy, and the head has not failed. */
function wasInterrupted(app: AppState): boolean {
  const { last_failure: failure, head } = app;
  return !headFailures(app) && failure?.commit === head && failure?.interrupted === true;
}

/** The deploy or rollback of an app that runs now. */
export function runningDeploy({ deploying }: AppState): Deploying | undefined {
  return deploying && isAlive(deploying) ? deploying : undefined;
}

/** Whether the process of a deploy still runs, for display only: the lock decides. */
function isAlive({ pid, boot_id: boot, start_time: start }: Deploying): boolean {
  const current = bootId();
  if (current === '') return true;
  const now = startTimeOf(pid);
  return current === boot && now !== undefined && now === (start ?? now);
}
