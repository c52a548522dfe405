/** A rollback that brings the database back, too: everything stops, and the backup takes its place. */
import { changeApp } from '@runner/common/apps/change';
import type { DatabaseBackup, Migration } from '@runner/common/apps/database';
import { restoredMigration } from '@runner/common/apps/migrations-on';
import { nextOrder } from '@runner/common/apps/order';
import type { AppState } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import { isThere } from '@runner/common/files/read';
import { onFailure, unlessFailure } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import type { Target } from '../instances/drivers/driver.ts';
import { stopAllOf } from '../instances/stop.ts';
import { keptTarget } from '../instances/target.ts';
import { changeOwnState, noteRestore } from '../journal/journal.ts';
import { type Journal, type Operation, say, uninterrupted } from '../journal/operation.ts';
import type { Step } from '../journal/step.ts';
import { reported } from '../report/reporter.ts';
import { runStep, StepFailure, shellStep } from '../run/step.ts';
import { type BackupSource, makeBackup } from './backup.ts';
import { addressOf, refused } from './context.ts';
import { forgetLook } from './last-look.ts';
import { underDatabaseLock } from './lock.ts';
import { noteRestored, readNote } from './note.ts';
import { MADE, putBack, refuseOthers } from './put-back.ts';
import { query } from './query.ts';
import { refuseInUse, sharingApps } from './sharing.ts';
import { isUnmade } from './tools.ts';

/** Longest time for a dump or for putting it back, in ms: longer than anyone waits. */
const PATIENCE = 6 * 3_600_000;

/** Throws `backup_unreadable` if the app has no such backup. */
export function requireBackup(paths: Paths, app: AppState, id: string): DatabaseBackup {
  const { database_backups: all = [] } = app;
  const kept = all.filter((each) => isThere(paths.app(app.app).databaseBackup(each.deploy_id)));
  const found = kept.find(({ deploy_id }) => deploy_id === id);
  if (found) return found;
  const ids = kept.map(({ deploy_id, at }) => `${deploy_id} (${at})`).join(', ');
  const has = ids === '' ? 'none is kept' : `kept: ${ids}`;
  const words = `'${app.app}' has no backup '${id.slice(0, 80)}' of its database: ${has}`;
  throw new Failure('backup_unreadable', words);
}

/** The steps before the version is started. What the database was until now is backed up first. */
export function restoreSteps(op: Operation, targets: readonly Target[], id: string): Step[] {
  const backup = requireBackup(op.paths, op.app, id);
  // Before anything is stopped.
  const look: Step = {
    stage: 'migrate',
    isBrief: true,
    run: async () => void placeOf(targets, backup),
  };
  const stops = Object.entries(op.app.instances).flatMap(([name, { current }]): Step[] => {
    const running = current && keptTarget(uninterrupted(op), name, current);
    if (!running) return [];
    const run = () => stopAllOf(uninterrupted(op), name, running);
    return [{ stage: 'switch', title: `stop ${name}`, instance: name, isTouched: true, run }];
  });
  return [look, ...stops, { stage: 'migrate', run: () => restore(op, targets, backup) }];
}

async function restore(
  op: Operation,
  targets: readonly Target[],
  backup: DatabaseBackup,
): Promise<void> {
  await onDatabase(op, targets, backup, async (source, target) => {
    refuseInUse(op, op.app.app, backup.database);
    // A file that was lost is made again, where the app may make one.
    if (isUnmade(source.address)) {
      const make = shellStep({
        stage: 'migrate',
        command: 'umask 027; : >> "$RUNNER_DATABASE"',
        cwd: target.release,
        env: { ...target.outerEnv, RUNNER_DATABASE: source.address.name },
        timeout: PATIENCE,
        confinement: target.confine('hook'),
      });
      await runStep(op.log, op.signal, make);
    }
    const made = await makeBackup(op, source);
    // Also what is there now: it may have to come back.
    for (const id of [backup.deploy_id, op.deployId])
      await refuseOthers(op, source, id).catch(notRestored(op));
    const before = await stateOf(source);
    noteRestore(op, backup.deploy_id);
    try {
      await replace(op, source, { to: target, backup });
    } catch (error) {
      const isUntouched = before !== undefined && (await stateOf(source)) === before;
      if (error instanceof StepFailure && isUntouched) {
        noteRestore(op, undefined);
        changeOwnState(op, (app) => ({ ...app, migrating: made.migrating ?? null }));
      }
      throw error;
    }
  });
}

/** What putting a backup back makes again, once no transaction does; undefined: it may be half way, or no one knows. */
async function stateOf({ address }: BackupSource): Promise<string | undefined> {
  const { kind } = address;
  if (kind === 'mysql') return undefined;
  const rows = query(address, kind === 'postgres' ? MADE : 'SELECT 1');
  return (await rows.catch(onFailure(() => undefined)))?.join();
}

/** Undoes it: the database becomes what it was before the rollback, with all that was written until then. */
export async function undoRestore(
  op: Operation,
  { deploy_id }: Journal,
  targets: readonly Target[],
) {
  const backup = requireBackup(op.paths, requireApp(op.paths, op.app.app), deploy_id);
  await onDatabase(op, targets, backup, (source, to) => replace(op, source, { to, backup }));
}

/** Where a backup belongs, and the first instance that says so. Throws a StepFailure if none does. */
function placeOf(targets: readonly Target[], { variable, database }: DatabaseBackup) {
  const places = targets.flatMap((target) =>
    unlessFailure(() => ({ target, address: addressOf(target, variable) }), []),
  );
  const found = places.find(({ address }) => address.aliases.includes(database));
  if (found) return found;
  const isSet = places.length > 0;
  throw refused(`${variable} ${isSet ? 'leads to another database' : 'has no database URL'} now`);
}

/** Throws a StepFailure. */
async function onDatabase(
  op: Operation,
  targets: readonly Target[],
  backup: DatabaseBackup,
  body: (source: BackupSource, target: Target) => Promise<void>,
): Promise<void> {
  const { variable } = backup;
  const { target, address } = placeOf(targets, backup);
  const source = { address, variable, timeout: PATIENCE };
  await underDatabaseLock(op, address, PATIENCE, (lock) => body({ ...source, lock }, target));
}

const notRestored = ({ redact }: Operation) =>
  onFailure(({ message }) => {
    throw refused(`the database could not be restored: ${redact(message)}`, 'server');
  });

/** Puts a backup in; the state says so before and after. Until it is in, nothing is migrated. */
async function replace(
  op: Operation,
  source: BackupSource,
  { to: { version, commit }, backup }: { readonly to: Target; readonly backup: DatabaseBackup },
): Promise<void> {
  const { deploy_id: id, database } = backup;
  const at = op.io.now().toISOString();
  const left = await readNote(source.address);
  const started = { deploy_id: op.deployId, commit, version, at, database, backup: id };
  changeOwnState(op, (app) => ({ ...app, migrating: started }));
  const title = `restore the database as of ${backup.at}`;
  await reported(op.reporter, title, () => putBack(op, source, id)).catch(notRestored(op));
  const { io, paths } = op;
  const { migrating: killed } = backup;
  const seen = await noteRestored({ op, address: source.address }, left, killed);
  const isIts = (at: string | undefined) => source.address.aliases.includes(at ?? '');
  const after = (app: AppState): AppState => {
    const when = { at, order: nextOrder(app, io.now()) };
    const then = (each: Migration) =>
      isIts(each.database ?? database) ? restoredMigration(each, backup, when) : each;
    const contracted = backup.contracted?.[app.app] ?? null;
    return {
      ...app,
      contracted,
      migrations: (app.migrations ?? []).map(then),
      ...(seen !== undefined && isIts(app.database) && { database_seen: seen }),
    };
  };
  for (const app of sharingApps(op, op.app.app, database)) {
    forgetLook({ paths, app });
    const now = changeApp({ io, paths, command: 'rollback', app: app.app }, after);
    const isLess = now.migrations?.some(
      (each, index) => each.gone && !app.migrations?.[index]?.gone,
    );
    const next = isLess ? `: its migrations since are gone: runner deploy ${word(app.app)}` : '';
    say(op, `${app.app} uses this database, too${next}`);
  }
  forgetLook(op);
  changeOwnState(op, (app) => ({ ...after(app), migrating: killed ?? null }));
}
