/** Whether the release that is active may count as a good one. */
import type { AppState } from '@runner/common/apps/state';
import { summaryOf } from '@runner/common/apps/summary';
import { viewOf } from '@runner/deploy/instances/view';
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
  const { watch, watched } = app;
  if (watch) return is('watching', `its watch goes on until ${watch.until}`);
  const isActive = Object.values(app.instances).some(
    ({ current }) => current?.deploy_id === watched?.deploy_id,
  );
  if (watched?.verdict !== 'bad' || !isActive) return undefined;
  return is('watch_bad', `its watch was bad: ${watched.reason}`);
}
