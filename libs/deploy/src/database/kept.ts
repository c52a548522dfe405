/** Which backups of a database may go: those that no kept version is from before. */
import { join } from 'node:path';
import type { Deployed } from '@runner/common/apps/deployed';
import { orderOf } from '@runner/common/apps/order';
import type { AppState } from '@runner/common/apps/state';
import { isThere, namesIn } from '@runner/common/files/read';
import type { AppPaths } from '@runner/common/foundation/paths';

/** The versions that a rollback could choose, in all instances, the oldest first. */
export function keptVersions(paths: AppPaths, { instances }: AppState): Deployed[] {
  const all = Object.values(instances)
    .flatMap(({ current, previous }) => [current ?? [], previous].flat())
    .filter(({ release }) => isThere(paths.release(release)))
    .sort((a, b) => orderOf(a) - orderOf(b));
  // What several instances run is one version.
  return all.filter(({ release }, at) => all.findIndex((each) => each.release === release) === at);
}

/** Paths of backups that nothing needs, and of what killed commands left; the newest stays until a version is kept. Under the app's lock. */
export function unneededBackups(paths: AppPaths, app: AppState): string[] {
  const { database_backups: backups = [] } = app;
  const [oldest] = keptVersions(paths, app);
  const needed = backups
    .filter((each) => (oldest ? orderOf(oldest) < orderOf(each) : each === backups.at(-1)))
    .map(({ deploy_id }) => paths.databaseBackup(deploy_id));
  const all = namesIn(paths.databaseBackups).map((name) => join(paths.databaseBackups, name));
  return all.filter((path) => !needed.includes(path));
}
