/** Which backups of a database may go: those that no kept version is from before. */
import { join } from 'node:path';
import type { AppState } from '@runner/common/apps/state';
import { isThere, namesIn } from '@runner/common/files/read';
import type { AppPaths } from '@runner/common/foundation/paths';

/** Paths of backups that nothing needs, and of what killed commands left. Under the app's lock. */
export function unneededBackups(paths: AppPaths, app: AppState): string[] {
  const { instances, database_backups: backups = [] } = app;
  const kept = Object.values(instances)
    .flatMap(({ current, previous }) => [current ?? [], previous].flat())
    .filter(({ release }) => isThere(paths.release(release)));
  const needed = backups
    .filter(({ at }) => kept.some(({ deployed_at }) => deployed_at < at))
    .map(({ deploy_id }) => paths.databaseBackup(deploy_id));
  const all = namesIn(paths.databaseBackups).map((name) => join(paths.databaseBackups, name));
  return all.filter((path) => !needed.includes(path));
}
