/**
 * What the servers of a fleet know of each other's migrations: a note in the database itself, read and
 * written under its lock. On PostgreSQL it is the last line of the comment on the database or, of a user who
 * does not own that, on a table of its migration tool; on MySQL a table.
 */
import { hostname } from 'node:os';
import type { Migration, StartedMigration } from '@runner/common/apps/database';
import { onFailure } from '@runner/common/foundation/attempt';
import { harmlessLine } from '@runner/common/text/harmless';
import { isObject, jsonObject } from '@runner/common/text/json';
import { type Operation, say } from '../journal/operation.ts';
import type { DatabaseAddress } from './address.ts';
import type { MigrationContext } from './context.ts';
import { query } from './query.ts';
import { BOOKKEEPING_LIST } from './scratch.ts';
import { NOTE_TABLE } from './tools.ts';

/** A migration that was begun on a server and has not ended there. */
export interface NotedMigration
  extends Pick<StartedMigration, 'deploy_id' | 'version' | 'at' | 'asks' | 'contract'> {
  readonly server: string;
  readonly app: string;
}

/** What a migration has done. Without reasons: other users of the server may read the comment. */
export interface NotedResult
  extends Pick<Migration, 'deploy_id' | 'version' | 'verdict' | 'tried'> {
  readonly server: string;
}

/** Without `migrating` none runs, and none was killed. The newest result is the last. */
export interface MigrationNote {
  readonly migrating?: NotedMigration | undefined;
  readonly results: readonly NotedResult[];
}

const RESULTS_MAX = 20;

const TABLES = 'SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()';
/** The database, and the table that has the note in its place. */
const DATABASE = `(SELECT oid, datname, (SELECT c.oid FROM pg_class c WHERE relkind = 'r' AND relname IN ${BOOKKEEPING_LIST}
  AND pg_has_role(relowner, 'USAGE') AND NOT pg_has_role(datdba, 'USAGE') ORDER BY c.oid LIMIT 1) AS own
  FROM pg_database WHERE datname = current_database()) AS d`;
const NOTED = "'runner: ([{].*)$'";
const OF_DATABASE = `substring(shobj_description(d.oid, 'pg_database') FROM ${NOTED})`;
/** The own note, then those of others, which say what they have begun. */
const READ = {
  postgres: `SELECT coalesce(substring(obj_description(own, 'pg_class') FROM ${NOTED}), ${OF_DATABASE}) FROM ${DATABASE}
    UNION ALL SELECT ${OF_DATABASE} FROM ${DATABASE} UNION ALL SELECT substring(obj_description(oid, 'pg_class')
    FROM ${NOTED}) FROM pg_class WHERE relkind = 'r' AND relname IN ${BOOKKEEPING_LIST}`,
  mysql: `SELECT note FROM ${NOTE_TABLE}`,
};
/** The text is in hex digits: no quotes, and no encoding of the database. */
const WRITE = {
  postgres: (
    hex: string,
  ) => `SELECT format('COMMENT ON %s IS %L', coalesce('TABLE ' || own::regclass, format('DATABASE %I', datname)),
    ltrim(regexp_replace(coalesce(CASE WHEN own IS NULL THEN shobj_description(oid, 'pg_database')
    ELSE obj_description(own, 'pg_class') END, ''), E'\\n?runner: [{].*$', '') || E'\\nrunner: '
    || convert_from(decode('${hex}', 'hex'), 'UTF8'), E'\\n')) FROM ${DATABASE} \\gexec\n`,
  mysql: (hex: string) => `CREATE TABLE IF NOT EXISTS ${NOTE_TABLE} (id TINYINT PRIMARY KEY,
    note MEDIUMTEXT CHARACTER SET ascii NOT NULL); REPLACE INTO ${NOTE_TABLE} VALUES (1, 0x${hex});`,
};

/** Empty if it cannot be read: then there is no lock either. */
export async function readNote(address: DatabaseAddress): Promise<MigrationNote> {
  const { kind } = address;
  if (kind === 'sqlite') return { results: [] };
  const rows =
    kind === 'postgres' ||
    (await asked(address, `${TABLES} AND TABLE_NAME = '${NOTE_TABLE}'`)).length > 0
      ? await asked(address, READ[kind])
      : [];
  const notes = rows.map(([text = '']) => jsonObject(text) ?? {});
  const isBegun = (value: unknown): value is NotedMigration =>
    isNoted<NotedMigration>(value, ['app', 'version', 'at']);
  const { migrating } = notes.find((each) => isBegun(each.migrating)) ?? {};
  const results = notes[0]?.results;
  const all = Array.isArray(results) ? results : [];
  return {
    ...(isBegun(migrating) && { migrating }),
    results: all.filter((each) => isNoted<NotedResult>(each, ['version', 'verdict'])),
  };
}

const asked = (address: DatabaseAddress, sql: string) =>
  query(address, sql).catch(onFailure(() => []));

/** Whether these fields, the server and the deploy are texts that are safe to print. */
function isNoted<T>(value: unknown, fields: readonly string[]): value is T {
  const isText = (text: unknown) => typeof text === 'string' && harmlessLine(text) === text;
  return isObject(value) && [...fields, 'server', 'deploy_id'].every((name) => isText(value[name]));
}

type NotePlace = { readonly op: Operation } & Pick<MigrationContext, 'address'>;

/** Before the command: until it has ended, each server finds this. Returns the note as it is then. */
export async function noteBegin(
  { op, address }: NotePlace,
  note: MigrationNote,
  { deploy_id, version, at, asks, contract }: StartedMigration,
): Promise<MigrationNote> {
  const kind = { ...(asks && { asks }), ...(contract && { contract }) };
  const who = { server: hostname(), app: op.app.app, deploy_id, version: harmlessLine(version) };
  const now = { ...note, migrating: { ...who, at, ...kind } };
  // Some tools begin only with an empty database.
  const isEmpty =
    address.kind === 'mysql' && (await asked(address, `${TABLES} LIMIT 1`)).length === 0;
  const problem = isEmpty ? 'the database is empty' : await write(address, now);
  if (problem === undefined) return now;
  say(op, `if this is killed, no other server will know of it: ${problem}`);
  return note;
}

/** After it, or once someone has said what became of it. Returns the deploy of the newest result in the note. */
export async function noteEnd(
  { op, address }: Pick<MigrationContext, 'op' | 'address'>,
  { migrating, results }: MigrationNote,
  result?: Pick<NotedResult, 'verdict' | 'tried'>,
): Promise<string | undefined> {
  const version = harmlessLine(op.version);
  const { deployId: deploy_id } = op;
  const own = result ? [{ server: hostname(), version, deploy_id, ...result }] : [];
  const all = [...results, ...own].slice(-RESULTS_MAX);
  const problem = migrating || result ? await write(address, { results: all }) : undefined;
  if (problem && migrating) say(op, `the note of the migration stays in the database: ${problem}`);
  return (problem ? results : all).at(-1)?.deploy_id;
}

/**
 * After a restore: what another server began is still to be answered, also where the note went back with its
 * table, and what was answered by it is not; `left` is the note before. Returns the newest result that is in.
 */
export async function noteRestored(
  { op, address }: NotePlace,
  left: MigrationNote,
  killed: StartedMigration | undefined,
): Promise<string | undefined> {
  const { results, migrating: now } = await readNote(address);
  const isOwn = left.migrating?.deploy_id === op.app.migrating?.deploy_id;
  const migrating = isOwn ? undefined : left.migrating;
  if (killed) await noteBegin({ op, address }, { results }, killed);
  else if (now?.deploy_id !== migrating?.deploy_id) await write(address, { results, migrating });
  return results.at(-1)?.deploy_id;
}

/** Returns why it could not be written. */
async function write(address: DatabaseAddress, note: MigrationNote) {
  const { kind } = address;
  if (kind === 'sqlite') return undefined;
  const ascii = JSON.stringify(note).replace(
    /[^\x20-\x7e]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const hex = Buffer.from(ascii).toString('hex');
  const why = onFailure(({ message }) => message);
  return query(address, WRITE[kind](hex)).then(() => undefined, why);
}
