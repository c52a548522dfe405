/** Whether the release that is active may count as a good one. */
import type { AppState } from '@runner/common/apps/state';
import { summaryOf } from '@runner/common/apps/summary';
import type { WatchEnd } from '@runner/common/apps/watch';
import { viewOf } from '@runner/deploy/lifecycle/view';
import { NOT_JUDGED } from '@runner/fleet/order/result';
import type { Agent } from './agent.ts';

/** Why it does not count. */
export interface ReleaseTrouble {
  readonly code: 'not_running' | 'watch_bad' | 'watching';
  readonly message: string;
}

/** undefined: there is nothing against it. Throws `config_invalid`. */
export async function troubleOf(
  { io, paths }: Pick<Agent, 'io' | 'paths'>,
  app: AppState,
): Promise<ReleaseTrouble | undefined> {
  const { state, next } = summaryOf(paths, app, await viewOf({ io, paths }, [app]));
  const is = (code: ReleaseTrouble['code'], what: string) => ({
    code,
    message: `up to date, but ${what}`,
  });
  if (state === 'down' || state === 'broken') return is('not_running', `${state}: ${next}`);
  if (app.watch) return is('watching', `its watch goes on until ${app.watch.until}`);
  const watched = watchOfActive(app);
  return watched?.verdict === 'bad'
    ? is('watch_bad', `its watch was bad: ${watched.reason}`)
    : undefined;
}

/** How the watch of what is active ended; undefined: it had none. */
export function watchOfActive({ watched, instances }: AppState): WatchEnd | undefined {
  const active = Object.values(instances).map(({ current }) => current?.deploy_id);
  return watched && active.includes(watched.deploy_id) ? watched : undefined;
}

/** The fields of a result that is good, but for a watch that was not judged. */
export const notJudged = (reason: string) => ({
  code: NOT_JUDGED,
  message: `watch: not judged: ${reason}`,
});
