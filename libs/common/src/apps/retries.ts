/** When a failed commit is tried again. */
import type { RetryPolicy } from '../config/settings.ts';
import type { Paths } from '../foundation/paths.ts';
import { type AppState, isHeld } from './state.ts';

/** Without failures nothing depends on it. */
const UNUSED: RetryPolicy = { max: 3, waits: [] };

/** The policy of config.yml, which is read only if one of the apps has failed: loading YAML is slow. */
export async function retryPolicyFor(
  paths: Paths,
  apps: readonly AppState[],
): Promise<RetryPolicy> {
  if (!apps.some((app) => app.failures || isDueAgain(app))) return UNUSED;
  const { readConfig } = await import('../config/file.ts');
  const { retryPolicyOf } = await import('../config/settings.ts');
  return retryPolicyOf(readConfig(paths));
}

/**
 * Whether the last deploy failed because of the server (a kill, a full disk) and not of the commit: that
 * does not count, and `fetch --deploy` tries again.
 */
export function isDueAgain(app: AppState): boolean {
  const { last_failure: failure, held, head } = app;
  if (!failure || failure.rollback || isHeld(app, failure.commit)) return false;
  // A commit that an operator chose is not tried again.
  if (head !== undefined && failure.commit !== head) return false;
  const active = Object.values(app.instances).flatMap(({ current, active_since: since }) =>
    current ? [{ ...current, since: since ?? current.deployed_at }] : [],
  );
  return (
    !active.some(({ commit }) => commit === failure.commit) &&
    [...active.map(({ since }) => since), held?.since].every((time) => !time || time < failure.at)
  );
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
