/** What may go: of a registered app, and of one that was removed. Both under the app's lock. */
import { join } from 'node:path';
import { liveLink } from '@runner/common/apps/slots';
import type { AppState } from '@runner/common/apps/state';
import { folderNamesIn, isThere, namesIn } from '@runner/common/files/read';
import { isAppName } from '@runner/common/foundation/names';
import type { AppPaths, Paths } from '@runner/common/foundation/paths';
import { unneededBackups } from '../database/kept.ts';
import { activeRelease } from '../instances/current-link.ts';
import { slotReleases, unfinishedReleases, unusedReleases } from '../release/folder.ts';
import { leftoversOf } from '../remove/remove.ts';
import { oldLogs } from '../run/log.ts';
import { releasesInUse } from '../run/processes.ts';

/** Releases that nothing needs, what killed builds left, and old deploy logs. */
export function prunableOf(paths: Paths, app: AppState): string[] {
  const own = paths.app(app.app);
  const { deploying } = app;
  const log = deploying ? paths.deployLog(app.app, deploying.deploy_id) : undefined;
  // Cleaning up after a killed deploy may need any release.
  const releases = deploying ? [] : unneededReleases(paths, app);
  return [
    ...releases.map((name) => own.release(name)),
    ...(deploying ? [] : unneededBackups(own, app)),
    ...unfinishedReleases(own),
    ...oldLogs(paths, app.app, log),
  ];
}

function unneededReleases(paths: Paths, app: AppState): string[] {
  const own = paths.app(app.app);
  const active = Object.keys(app.instances).map((name) => activeRelease(paths, app.app, name));
  const needed = new Set([...active, ...slotReleases(app), ...releasesInUse(own.dir)]);
  return unusedReleases(own, app).filter((name) => !needed.has(name));
}

/** Names of apps that left files and are not registered. */
export function removedApps(paths: Paths, registered: readonly string[]): string[] {
  const names = namesIn(join(paths.root, 'apps')).filter(isAppName);
  return names.filter((name) => !registered.includes(name));
}

/**
 * What a removed app left, without shared files and deploy logs. Nothing of an app that has an active
 * version: its state file was lost, it was not removed.
 */
export function leftOf(own: AppPaths): string[] {
  const isInUse = [...releasesInUse(own.dir)].some((name) => name !== '');
  return isActive(own) || isInUse ? [] : leftoversOf(own).leftover;
}

function isActive(own: AppPaths): boolean {
  const instances = folderNamesIn(own.instances).map((name) => own.instance(name));
  return instances.some((each) => isThere(each.current) || isThere(liveLink(each)));
}
