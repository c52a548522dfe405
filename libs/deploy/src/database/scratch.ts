/** A scratch copy of a schema, on the same server: no rows but the notes of migration tools. */
import { randomBytes } from 'node:crypto';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '@runner/common/foundation/failure';
import { type DatabaseAddress, otherDatabase } from './address.ts';
import { forOlderServer, query, streamForOlderServer } from './query.ts';
import { namesDatabase } from './relay.ts';
import { NOTE_TABLE, outputOf, runTool, type ToolLimits } from './tools.ts';

/** Where and how a copy is made. */
export interface ScratchRequest extends ToolLimits {
  readonly temporary: string;
  readonly isFull?: boolean;
}

/** What migration tools note. Without these rows they would run every migration again. */
const BOOKKEEPING = `schema_migrations ar_internal_metadata django_migrations django_content_type
auth_permission migrations migrations_lock typeorm_metadata _prisma_migrations __drizzle_migrations
knex_migrations knex_migrations_lock alembic_version flyway_schema_history goose_db_version SequelizeMeta
schema_version phinxlog doctrine_migration_versions`.split(/\s+/);
/** Whether a table, with or without its schema, is one of them. */
export const isBookkeeping = (table: string) => BOOKKEEPING.includes(table.replace(/^.*\./, ''));
/** The same, as a list of SQL. */
export const BOOKKEEPING_LIST = `(${BOOKKEEPING.map((name) => `'${name}'`).join(', ')})`;

/** The name has the time in seconds but its last 8 bits, which are random. */
const NAME = /^runner_scratch_([\da-f]{6})[\da-f]{2}$/;
/** A copy that is older was left by a process that was killed, in s. */
const LEFT_AFTER = 3_600;
/** Largest file of SQLite that is copied with its rows, in bytes. */
export const COPY_MAX = 256 * 1_048_576;

const seconds = () => Math.floor(Date.now() / 1_000);
const isLeft = (name: string) => {
  const time = NAME.exec(name)?.[1];
  return time !== undefined && seconds() - Number.parseInt(time, 16) * 256 > LEFT_AFTER;
};
function freshName(): string {
  const time = Math.floor(seconds() / 256)
    .toString(16)
    .padStart(6, '0');
  return `runner_scratch_${time}${randomBytes(1).toString('hex')}`;
}

/** Those that no session uses: a rehearsal may take longer. */
const LISTS = {
  postgres: `SELECT datname FROM pg_database d WHERE datname LIKE 'runner\\_scratch\\_%'
    AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.datname = d.datname)`,
  mysql: `SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE 'runner\\_scratch\\_%'
    AND SCHEMA_NAME NOT IN (SELECT DB FROM information_schema.PROCESSLIST WHERE DB IS NOT NULL)`,
};
const DROPS = {
  postgres: (name: string) =>
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}';\nDROP DATABASE IF EXISTS ${name};`,
  mysql: (name: string) => `DROP DATABASE IF EXISTS ${name};`,
};

const SETTINGS = {
  postgres: `SELECT format('TEMPLATE template0 ENCODING %L LC_COLLATE %L LC_CTYPE %L',
    pg_encoding_to_char(encoding), datcollate, datctype) FROM pg_database WHERE datname = current_database()`,
  mysql: `SELECT CONCAT('CHARACTER SET ', @@character_set_database, ' COLLATE ', @@collation_database)`,
};

/** What `CREATE DATABASE` needs for one like this. */
async function settingsOf(address: DatabaseAddress, limits: ToolLimits = {}) {
  const [[settings = ''] = []] = await query(address, SETTINGS[address.kind as 'mysql'], limits);
  return settings;
}

/** Settings of the database, as its search_path, of which this session has the values. */
async function copySettings(address: DatabaseAddress, copy: string, limits: ToolLimits) {
  const names = `SELECT format('ALTER DATABASE ${copy} SET %I FROM CURRENT;', split_part(setting, '=', 1))
    FROM pg_db_role_setting JOIN pg_database d ON d.oid = setdatabase, unnest(setconfig) AS setting
    WHERE datname = current_database() AND setrole IN (0, (SELECT oid FROM pg_roles WHERE rolname = current_user))`;
  const found = (await query(address, names, limits)).flat();
  if (found.length > 0) await query(address, found.join('\n'), { ...limits, isForced: true });
}

async function createOn(address: DatabaseAddress, kind: 'postgres' | 'mysql', limits: ToolLimits) {
  // Another user's copy cannot be dropped, and is not ours.
  for (const [name = ''] of await query(address, LISTS[kind], limits))
    if (isLeft(name)) await query(address, DROPS[kind](name), limits).catch(() => {});
  const settings = await settingsOf(address, limits);
  for (let tries = 0; ; tries += 1) {
    const name = freshName();
    try {
      await query(address, `CREATE DATABASE ${name} ${settings}`, limits);
      if (kind === 'postgres') await copySettings(address, name, limits);
      return name;
    } catch (error) {
      const words = String(error);
      if (/denied/.test(words))
        throw new Failure('not_configured', 'the user of the database may not create databases');
      if (!/exists/.test(words) || tries > 8) throw error;
    }
  }
}

const INTO_POSTGRES = ['-X', '-q', '-w', '-o', '/dev/null', '-v', 'ON_ERROR_STOP=1', '-f', '-'];

async function loadPostgres(from: DatabaseAddress, to: DatabaseAddress, limits: ScratchRequest) {
  const [[servers = ''] = []] = await query(from, 'SELECT count(*) FROM pg_foreign_server', limits);
  // A copy of a foreign table would write into the other server.
  if (servers !== '0') throw new Failure('not_configured', 'the database has foreign servers');
  const noted = await query(
    from,
    `SELECT format('%I.%I', nspname, relname) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
     WHERE relkind IN ('r', 'p') AND relname IN ${BOOKKEEPING_LIST} AND nspname NOT LIKE 'pg\\_%'`,
    limits,
  );
  const wait = ['--no-owner', '--no-privileges', '--lock-wait-timeout=5s', '-w'];
  const without = ['--no-comments', '--no-publications', '--no-subscriptions'];
  const load = async (args: readonly string[]) => {
    const input = await runTool(from, 'dump', { args: [...wait, ...without, ...args] }, limits);
    // The new database has the schema public already.
    const sql = forOlderServer(input).replace(/^CREATE SCHEMA public;$/m, '');
    await runTool(to, 'client', { args: INTO_POSTGRES, input: sql }, limits);
  };
  if (limits.isFull) {
    await load(['--section=pre-data']);
    const all = [...wait, ...without, '-a'];
    const input = streamForOlderServer(outputOf(from, 'dump', { args: all }, limits));
    await runTool(to, 'client', { args: INTO_POSTGRES, input }, limits);
    // With the keys: all rows are there.
    await load(['--section=post-data']);
    return;
  }
  await load(['-s']);
  if (noted.length > 0) await load(['-a', ...noted.map(([name]) => `--table=${name}`)]);
}

async function loadMysql(from: DatabaseAddress, to: DatabaseAddress, limits: ScratchRequest) {
  // `loose`: only the program of MySQL knows these.
  const loose = ['--loose-set-gtid-purged=OFF', '--loose-column-statistics=0', '--no-tablespaces'];
  const without = ['--skip-comments', `--ignore-table=${from.name}.${NOTE_TABLE}`];
  const common = [...loose, '--skip-lock-tables', ...without, '--skip-add-drop-table'];
  const into = ['--default-character-set=utf8mb4'];
  const shaped = async (args: readonly string[]) => {
    const dumped = await runTool(from, 'dump', { args: [...common, '--no-data', ...args] }, limits);
    const schema = dumped
      .replace(/ DEFINER\s*=\s*`[^`]*`(?:@`[^`]*`)?/g, '')
      .replace(/^\/\*M?!999999.*$/m, '');
    // What names its own database would, as a copy, change production.
    if (namesDatabase(from.name).test(schema))
      throw new Failure('not_configured', 'a view, trigger or procedure names its own database');
    await runTool(to, 'client', { args: into, input: schema }, limits);
  };
  const rows = [...common, '--no-create-info', '--skip-triggers', '--single-transaction'];
  if (limits.isFull) {
    await shaped(['--routines', '--skip-triggers', '--skip-events']);
    const input = outputOf(from, 'dump', { args: [...rows, '--quick', '--hex-blob'] }, limits);
    await runTool(to, 'client', { args: into, input }, limits);
    // Last: they would run for each row.
    await shaped(['--no-create-info', '--triggers', '--skip-events']);
    return;
  }
  await shaped(['--routines', '--triggers', '--skip-events']);
  const noted = await query(
    from,
    `SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ${BOOKKEEPING_LIST}`,
    limits,
  );
  if (noted.length === 0) return;
  const after = noted.map(([name = '']) => name);
  const input = await runTool(from, 'dump', { args: rows, after }, limits);
  await runTool(to, 'client', { args: into, input }, limits);
}

/** SQLite has no triggers for statements without rows: a small file is copied with its rows. */
async function copyFile(from: DatabaseAddress, request: ScratchRequest) {
  const file = join(request.temporary, `${freshName()}.sqlite`);
  const address = otherDatabase(from, file);
  const drop = async () => {
    for (const end of ['', '-wal', '-shm', '-journal']) rmSync(file + end, { force: true });
  };
  try {
    // An empty file: VACUUM INTO takes it, and only the owner reads it.
    writeFileSync(file, '', { mode: 0o600, flag: 'wx' });
    const isWhole = request.isFull || statSync(from.name).size <= COPY_MAX;
    if (isWhole) await query(from, `VACUUM INTO '${file.replaceAll("'", "''")}'`, request);
    else await loadSqlite(from, address, request);
    return { address, drop };
  } catch (error) {
    await drop();
    throw error;
  }
}

async function loadSqlite(from: DatabaseAddress, to: DatabaseAddress, limits: ToolLimits) {
  const dump = (text: string) =>
    runTool(
      from,
      'client',
      { args: ['-batch', '-init', '/dev/null', '-readonly'], input: text },
      limits,
    );
  const schema = await dump('.timeout 5000\n.schema --nosys\n');
  const rows = await dump(`.timeout 5000\n.dump ${BOOKKEEPING.join(' ')}\n`);
  const inserts = rows.split('\n').filter((line) => line.startsWith('INSERT INTO'));
  await query(to, [schema, ...inserts].join('\n'), limits);
}

/**
 * Makes a copy, which `drop` removes, and drops those that killed processes left. Throws a Failure if that is
 * not possible.
 */
export async function makeScratch(address: DatabaseAddress, request: ScratchRequest) {
  const { kind } = address;
  if (kind === 'sqlite') {
    await query(address, 'SELECT 1', request);
    return copyFile(address, request);
  }
  const name = await createOn(address, kind, request);
  const scratch = otherDatabase(address, name);
  // An abort ends the work, not the cleaning.
  const drop = async () => void (await query(address, DROPS[kind](name)));
  try {
    await (kind === 'postgres' ? loadPostgres : loadMysql)(address, scratch, request);
    return { address: scratch, drop };
  } catch (error) {
    await drop();
    throw error;
  }
}
