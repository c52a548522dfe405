/** Starting the process that watches a release: it outlives the command, as the delivery of messages does. */
import { setTimeout as sleep } from 'node:timers/promises';
import { findApp } from '@runner/common/apps/store';
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
