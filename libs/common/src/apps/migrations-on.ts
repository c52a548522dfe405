/** The migrations that are in the database of an app, also those of other apps that use it. */
import type { Paths } from '../foundation/paths.ts';
import type { DatabaseBackup, Migration } from './database.ts';
import { nextOrder, orderOf } from './order.ts';
import type { AppState } from './state.ts';
import { allNames, listApps } from './store.ts';

/** What a restore makes of a migration: one that was not in when the backup was made is gone. */
export function restoredMigration(
  { gone, gone_order, ...each }: Migration,
  { migrations: known }: Pick<DatabaseBackup, 'migrations'>,
  { at, order }: { readonly at: string; readonly order: number },
): Migration {
  if (known.includes(each.deploy_id)) return each;
  return gone === undefined
    ? { ...each, gone: at, gone_order: order }
    : { ...each, gone, ...(gone_order !== undefined && { gone_order }) };
}

/**
 * The migrations of an app, and those of the others that are in its database, the oldest first; as after
 * the restore of a backup, if there is one; `databases`: the fingerprints of its database.
 */
export function migrationsOn(
  { paths, app }: { readonly paths: Paths; readonly app: AppState },
  backup?: DatabaseBackup,
  databases: readonly (string | undefined)[] = [app.database],
): Migration[] {
  const now = new Date();
  const then = (each: Migration) =>
    backup
      ? restoredMigration(each, backup, { at: now.toISOString(), order: nextOrder(app, now) })
      : each;
  const its = databases.filter((each) => each !== undefined);
  const others = its.length === 0 ? [] : listApps(paths, allNames(paths)).apps;
  const theirs = others.flatMap(({ app: name, migrations = [] }) =>
    migrations
      .filter((each) => name !== app.app && its.includes(each.database ?? '') && !then(each).gone)
      // The version that was tried is another app's.
      .map(({ tried: _, ...each }) => ({
        ...each,
        verdict: each.otherwise ?? each.verdict,
        version: `${each.version} of ${name}`,
      })),
  );
  return [...(app.migrations ?? []).map(then), ...theirs].sort((a, b) => orderOf(a) - orderOf(b));
}
