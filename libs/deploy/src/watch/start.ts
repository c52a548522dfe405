/** Starting the process that watches a release: it outlives the command, as the delivery of messages does. */
import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { changeApp } from '@runner/common/apps/change';
import { findApp } from '@runner/common/apps/store';
import type { WatchState } from '@runner/common/apps/watch';
import { liveHolder } from '@runner/common/files/lock';
import type { Server } from '@runner/common/foundation/paths';
import { startInBackground } from '../run/background.ts';
import { readProgress } from './progress.ts';

/** Longest wait until a watcher has read the key that this process got from systemd, in ms. */
const KEY_WAIT = 5_000;

/** Starts the watcher of an app whose release is watched, unless there is one. Returns whether one is at work. */
export async function startWatcher({ io, paths }: Server, app: string): Promise<boolean> {
  const watch = findApp(paths, app)?.watch;
  if (!watch) return false;
  if (liveHolder(paths.watchLock(app))) return true;
  if (!startInBackground({ io, paths }, 'runner-watch', [app, '--carry'])) return false;
  const until = performance.now() + (io.env.CREDENTIALS_DIRECTORY ? KEY_WAIT : 0);
  const hasBegun = () => readProgress(paths, app, watch.deploy_id) !== undefined;
  while (performance.now() < until && !hasBegun()) await sleep(50);
  return true;
}

/** A watch lasts at least so much longer after a reboot, in ms, unless it was to be shorter. */
const MORE_MIN = 60_000;

/** After a reboot a watch goes on: the time since its watcher last wrote does not count. */
export async function resumeWatch({ io, paths }: Server, app: string): Promise<void> {
  if (!findApp(paths, app)?.watch) return;
  const shown = statSync(paths.app(app).watch, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const later = (watch: WatchState): WatchState => {
    const [since, until] = [Date.parse(watch.since), Date.parse(watch.until)];
    const left = Math.max(MORE_MIN, until - Math.max(since, shown));
    const end = io.now().getTime() + Math.min(left, until - since);
    return { ...watch, until: new Date(end).toISOString() };
  };
  changeApp({ io, paths, command: 'start', app }, (now) =>
    now.watch ? { ...now, watch: later(now.watch) } : now,
  );
  await startWatcher({ io, paths }, app);
}
