/** A rollback over migrations: the database is not rolled back, so the version must work with it. */
import type { Migration, SchemaWay } from '@runner/common/apps/state';
import { isThere } from '@runner/common/files/read';
import { Failure } from '@runner/common/foundation/failure';
import { word } from '@runner/common/text/shell';
import { requireBackup, restoreLine } from '../database/restore.ts';
import { isRestart, type KeptMove } from '../journal/after-rollback.ts';
import { type Operation, say } from '../journal/operation.ts';

/** What an operator says to a version that may not work with the database. */
export interface SchemaChoice {
  /** The version, which is accepted as it is. */
  readonly acceptSchema?: string | undefined;
  /** The backup of the database that is restored with it. */
  readonly database?: string | undefined;
  /** Asks on a terminal; absent where no one can answer. */
  confirm?(words: string): boolean;
}

/** Throws `schema_changed`, with the way to restore the database; `backup_unreadable`. */
export function refuseSchema(
  op: Operation,
  moves: readonly KeptMove[],
  { acceptSchema, database, confirm }: SchemaChoice,
): void {
  const all = migrationsIn(op, database);
  for (const move of moves) {
    const { app } = op.app;
    const { version, release, commit } = move.to;
    if (isRestart(move) && database === undefined) continue;
    const crossed = crossedBy(all, move);
    const lost = lackedBy(all, move);
    const way = lost ? 'broken' : worstOf(crossed);
    if (way === undefined) continue;
    const words = lost
      ? `${version} needs the migration of ${lost.version}, which a restore of the database took away`
      : wordsFor(version, crossed, way);
    const isAccepted =
      acceptSchema !== undefined &&
      (acceptSchema === version || acceptSchema === release || isCommit(acceptSchema, commit));
    if (way === 'proven' || way === 'additive' || isAccepted) say(op, words);
    else if (way === 'unknown' && (op.trigger === 'watch' || confirm?.(words))) say(op, words);
    else {
      const restore = lost
        ? `runner deploy ${word(app)} --ref ${word(commit)}`
        : restoreOf(op, crossed, version);
      const does = lost ? 'to migrate once more' : 'to restore what was before';
      const first = restore === undefined ? '' : `; ${does}: ${restore}`;
      const anyway = `runner rollback ${word(app)} --accept-schema ${word(version)}`;
      throw new Failure('schema_changed', `${words}${first}; to go back anyway: ${anyway}`);
    }
  }
}

/** Those that are in the database, or will be once a backup is restored; the others are gone. */
function migrationsIn({ paths, app }: Operation, database: string | undefined): Migration[] {
  const { migrations = [] } = app;
  if (database === undefined) return migrations;
  const known = requireBackup(paths, app, database).migrations;
  const now = new Date().toISOString();
  return migrations.map(({ gone, ...each }) =>
    known.includes(each.deploy_id) ? each : { ...each, gone: gone ?? now },
  );
}

/** The migrations since a version was deployed, the newest first, and what each means for it. */
function crossedBy(all: readonly Migration[], { to }: KeptMove): Migration[] {
  return all
    .filter(({ at, gone }) => !gone && at > to.deployed_at)
    .map((each) =>
      each.tried === to.commit ? each : { ...each, verdict: each.otherwise ?? each.verdict },
    )
    .reverse();
}

/** A migration that was in when the version was deployed. */
function lackedBy(all: readonly Migration[], { to }: KeptMove): Migration | undefined {
  return all.find(({ at, gone }) => gone && at <= to.deployed_at && to.deployed_at < gone);
}

/** The way to the database as it was before the oldest of them. */
function restoreOf({ paths, app }: Operation, crossed: readonly Migration[], version: string) {
  const oldest = crossed.at(-1);
  const isKept = oldest && isThere(paths.app(app.app).databaseBackup(oldest.deploy_id));
  return isKept ? restoreLine(app, version, oldest.deploy_id) : oldest?.restore;
}

function worstOf(crossed: readonly Migration[]): SchemaWay | undefined {
  const found = new Set(crossed.map(({ verdict }) => verdict));
  return (['broken', 'unknown', 'additive', 'proven'] as const).find((way) => found.has(way));
}

function wordsFor(version: string, crossed: readonly Migration[], way: SchemaWay): string {
  const own = crossed.filter(({ verdict }) => verdict === way);
  const since = own.map((each) => each.version).join(', ');
  const reasons = own.flatMap((each) => each.reasons).slice(0, 5);
  const why = reasons.length === 0 ? '' : `: ${reasons.join('; ')}`;
  if (way === 'proven')
    return `the database stays as ${since} has made it, on a copy of which ${version} was tried`;
  if (way === 'additive')
    return `the database stays as ${since} has made it, which ${version} works with${why}`;
  if (way === 'broken')
    return `${version} does not work with the database that ${since} has changed${why}`;
  return `whether ${version} works with the database that ${since} has changed is not known${why}`;
}

function isCommit(text: string, commit: string): boolean {
  return /^[0-9a-f]{7,40}$/.test(text) && commit.startsWith(text);
}
