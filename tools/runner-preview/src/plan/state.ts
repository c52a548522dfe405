/** How a preview is. */
import { removalOf } from '@runner/common/apps/preview';
import { asleepSince, liveRun } from '@runner/common/apps/slots';
import type { AppState } from '@runner/common/apps/state';
import { isRunning } from '@runner/common/files/process';
import type { Paths } from '@runner/common/foundation/paths';

/** `down`: its process has died. */
export type PreviewState =
  | ('building' | 'updating' | 'ready' | 'asleep' | 'down' | 'stopped')
  | ('failed' | 'removing' | 'removed');

export function previewState(paths: Paths, app: AppState): PreviewState {
  const { preview, instances } = app;
  const known = removalOf(app) ?? preview?.outcome;
  if (known === 'ready' && app.stopped) return 'stopped';
  const own = Object.keys(instances).map((name) => paths.app(app.app).instance(name));
  if (known === 'ready' && own.some(asleepSince)) return 'asleep';
  if (known === 'ready' && own.some((each) => isRunning(liveRun(each)) === false)) return 'down';
  if (known) return known;
  return Object.values(instances).some(({ current }) => current) ? 'updating' : 'building';
}
