/** What `list` and `status` show an app with: the retry policy, and what supervisors say runs. */

import type { View } from '@runner/common/apps/instance-summary';
import { retryPolicyFor } from '@runner/common/apps/retries';
import { liveRun } from '@runner/common/apps/slots';
import type { AppState } from '@runner/common/apps/state';
import { isViewer, viewersView } from '@runner/common/apps/viewed';
import { foreignOwner } from '@runner/common/files/foreign-root';
import { isRunning, recordedProcess, runningPid } from '@runner/common/files/process';
import { namesIn } from '@runner/common/files/read';
import { unlessFailure } from '@runner/common/foundation/attempt';
import type { Paths, Server } from '@runner/common/foundation/paths';

/** The option of commands that ask supervisors. */
export const OFFLINE = {
  about: 'Do not ask supervisors (systemd, pm2, docker) what runs',
} as const;

/** Of `start.type: process` the recorded one and its session, else what the supervisor names. */
export function pidsIn(paths: Paths, app: string, instance: string, view: View): readonly number[] {
  const run = liveRun(paths.app(app).instance(instance));
  const pid = runningPid(run);
  if (pid === undefined) return view.pids?.(app, instance) ?? [];
  return [pid, recordedProcess(run)?.session ?? pid];
}

/** With `offline` no supervisor is asked. Throws `config_invalid` if an app has failed. */
export async function viewOf(
  { io, paths }: Server,
  apps: readonly AppState[],
  offline = false,
): Promise<View> {
  if (isViewer(paths)) return viewersView(apps, io.now());
  const retries = await retryPolicyFor(paths, apps);
  const view: View = { retries, now: io.now(), ...(await whatIsOutdated({ io, paths })) };
  const isAsked = ({ app, instances }: AppState) =>
    Object.entries(instances).some(
      ([name, { current }]) =>
        current && isRunning(liveRun(paths.app(app).instance(name))) === null,
    );
  // Root runs no client that another user's repository may have chosen.
  const isSafe = foreignOwner(io.uid, paths) === undefined;
  if (offline || !isSafe || !apps.some(isAsked)) return view;
  const { whatRuns } = await import('@runner/deploy/instances/running');
  return { ...view, ...(await whatRuns({ io, paths }, apps)) };
}

/** Most servers have no plans, and opening secrets takes long. */
async function whatIsOutdated(server: Server): Promise<Pick<View, 'isOutdated'>> {
  if (unlessFailure(() => namesIn(server.paths.plansDir), []).length === 0) return {};
  const { isOutdated } = await import('@runner/deploy/approval/facts');
  return { isOutdated: (app, plan) => isOutdated(server, app, plan) };
}
