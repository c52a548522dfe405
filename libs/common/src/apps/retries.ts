/** When a failed commit is tried again. */
import type { RetryPolicy } from '../config/settings.ts';
import type { Paths } from '../foundation/paths.ts';
import { isHeld } from './hold.ts';
import type { AppState } from './state.ts';

/** Without failures nothing depends on it. */
export const DEFAULT_RETRIES: RetryPolicy = { max: 3, waits: [] };

/** The policy of config.yml, which is read only if one of the apps has failed: loading YAML is slow. */
export async function retryPolicyFor(
  paths: Paths,
  apps: readonly AppState[],
): Promise<RetryPolicy> {
  if (!apps.some(({ failures, attempts }) => failures || attempts)) return DEFAULT_RETRIES;
  const { readRetryPolicy } = await import('../config/retry-policy.ts');
  return readRetryPolicy(paths);
}

/**
 * Why `fetch --deploy` leaves a commit alone: it is active, failed too often or is on hold. `same`:
 * whether another commit is the same to the app.
 */
export function leftAlone(
  app: AppState,
  commit: string,
  max: number,
  same = (other: string | undefined) => other === commit,
): 'active' | 'blocked' | 'held' | undefined {
  const running = Object.values(app.instances).map(({ current }) => current?.commit);
  if (running.length > 0 && running.every(same)) return 'active';
  if (app.failures && same(app.failures.commit) && app.failures.count >= max) return 'blocked';
  return isHeld(app, same) ? 'held' : undefined;
}

/** What `fetch --deploy` makes of the head of the branch as last fetched; `due`: it failed and is tried again. */
export function headState(app: AppState, max: number): ReturnType<typeof leftAlone> | 'due' {
  const { failures, attempts, head = failures?.commit } = app;
  if (head === undefined) return undefined;
  const isTried = failures?.commit === head || attempts?.commit === head;
  return leftAlone(app, head, max) ?? (isTried ? 'due' : undefined);
}

/** How long `fetch --deploy` waits before it tries this commit again, in milliseconds; 0: not at all. */
export function retryWait(
  { attempts }: Pick<AppState, 'attempts'>,
  commit: string,
  { waits }: RetryPolicy,
  now: Date,
): number {
  if (attempts?.commit !== commit) return 0;
  const wait = waits[Math.min(attempts.count, waits.length) - 1] ?? 0;
  const passed = now.getTime() - Date.parse(attempts.at);
  // A clock that was set back must not make it wait for longer.
  return passed >= 0 && passed < wait ? wait - passed : 0;
}
