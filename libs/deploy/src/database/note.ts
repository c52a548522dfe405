/**
 * What the servers of a fleet know of each other's migrations: a note in the database itself, read and
 * written under its lock. On PostgreSQL it is the last line of the comment on the database or, of a user who
 * does not own that, on a table of its migration tool; on MySQL a table.
 */
import { hostname } from 'node:os';
import type { Migration, StartedMigration } from '@runner/common/apps/database';
import { Failure } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { isObject, jsonObject } from '@runner/common/text/json';
import { say } from '../journal/operation.ts';
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

/** Results that are kept. */
const RESULTS_MAX = 20;

const TABLES = 'SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()';
/** The database, and the table that has the note in its place. */
const DATABASE = `(SELECT oid, datname, (SELECT c.oid FROM pg_class c WHERE relkind = 'r' AND relname IN ${BOOKKEEPING_LIST}
  AND pg_has_role(relowner, 'USAGE') AND NOT pg_has_role(datdba, 'USAGE') ORDER BY c.oid LIMIT 1) AS own
  FROM pg_database WHERE datname = current_database()) AS d`;
const NOTED = "'runner: ([{].*)$'";
const READ = {
  postgres: `SELECT coalesce(substring(obj_description(own, 'pg_class') FROM ${NOTED}),
    substring(shobj_description(oid, 'pg_database') FROM ${NOTED})) FROM ${DATABASE}`,
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
  const { migrating, results } = jsonObject(rows[0]?.[0] ?? '') ?? {};
  const all = Array.isArray(results) ? results : [];
  return {
    ...(isNoted<NotedMigration>(migrating, ['app', 'version', 'at']) && { migrating }),
    results: all.filter((each) => isNoted<NotedResult>(each, ['version', 'verdict'])),
  };
}

const asked = (address: DatabaseAddress, sql: string) =>
  query(address, sql).catch((error) => {
    if (error instanceof Failure) return [];
    throw error;
  });

/** Whether these fields, the server and the deploy are texts that are safe to print. */
function isNoted<T>(value: unknown, fields: readonly string[]): value is T {
  const isText = (text: unknown) => typeof text === 'string' && harmlessLine(text) === text;
  return isObject(value) && [...fields, 'server', 'deploy_id'].every((name) => isText(value[name]));
}

/** Before the command: until it has ended, each server finds this. Returns the note as it is then. */
export async function noteBegin(
  { op, address }: Pick<MigrationContext, 'op' | 'address'>,
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

/** Returns why it could not be written. */
async function write(address: DatabaseAddress, note: MigrationNote) {
  const { kind } = address;
  if (kind === 'sqlite') return undefined;
  const ascii = JSON.stringify(note).replace(
    /[^\x20-\x7e]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const hex = Buffer.from(ascii).toString('hex');
  try {
    await query(address, WRITE[kind](hex));
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return error.message;
    throw error;
  }
}
