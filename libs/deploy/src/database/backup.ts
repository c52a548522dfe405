/**
 * Sealed backups of a database, made before a migration and before a restore, and read back once they are
 * written: of PostgreSQL an archive of pg_dump, of MySQL the text of its dump, of SQLite the file.
 */
import { createHash } from 'node:crypto';
import { constants, createReadStream, mkdtempSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createGunzip, createGzip } from 'node:zlib';
import { decrypted, encryptedFor, newIdentity } from '@runner/backup/age';
import { writeStream } from '@runner/backup/backup';
import { keepDatabaseKey, openDatabaseKey } from '@runner/common/app-secrets/database-key';
import type { DatabaseBackup } from '@runner/common/apps/database';
import { migrationsOn } from '@runner/common/apps/migrations-on';
import { nextOrder } from '@runner/common/apps/order';
import { allNames, listApps } from '@runner/common/apps/store';
import { isThere, makeFolder } from '@runner/common/files/read';
import { removeTree } from '@runner/common/files/tree-change';
import { Failure } from '@runner/common/foundation/failure';
import { Secret } from '@runner/common/secrets/secret';
import { harmlessLine } from '@runner/common/text/harmless';
import { changeOwnState } from '../journal/journal.ts';
import { type Operation, say } from '../journal/operation.ts';
import { reported } from '../report/reporter.ts';
import type { DatabaseAddress } from './address.ts';
import { refused } from './context.ts';
import { query } from './query.ts';
import { requireSpace, sizeWords } from './space.ts';
import { runTool, type ToolLimits } from './tools.ts';

/** Backups that an app remembers: more than releases are kept. */
const REMEMBERED = 100;
/** Of which database, and how long its tool may take, in ms. */
export interface BackupSource {
  readonly address: DatabaseAddress;
  readonly variable: string;
  readonly timeout: number;
  /** The descriptor of the database's lock: what still puts a backup back after a kill holds it. */
  readonly lock?: number;
}

/** Makes a backup with the name of this operation, after saying how large it is. Throws a StepFailure. */
export async function makeBackup(op: Operation, source: BackupSource): Promise<DatabaseBackup> {
  const { paths, app, deployId: deploy_id } = op;
  const own = paths.app(app.app);
  const { address, variable } = source;
  const { size, words } = await sizeWords(app, address);
  makeFolder(own.databaseBackups, 0o700);
  requireSpace(own.databaseBackups, size);
  const began = op.io.elapsed();
  const at = op.io.now().toISOString();
  const order = nextOrder(app, op.io.now());
  say(op, `a backup of the database: ${words}`);
  const bytes = await reported(op.reporter, 'back up the database', () => write(op, source));
  const backup: DatabaseBackup = {
    deploy_id,
    at,
    database: address.fingerprint,
    variable,
    size,
    bytes,
    ms: Math.round(op.io.elapsed() - began),
    ...(app.migrating && app.migrating.backup === undefined && { migrating: app.migrating }),
    migrations: migrationsOn({ paths, app }, undefined, address.aliases)
      .filter(({ gone }) => !gone)
      .map((each) => each.deploy_id),
    contracted: Object.fromEntries(
      listApps(paths, allNames(paths)).apps.flatMap((each) =>
        each.contracted ? [[each.app, each.contracted]] : [],
      ),
    ),
  };
  changeOwnState(op, (now) => {
    const kept = (now.database_backups ?? []).filter(
      (each) => each.deploy_id !== deploy_id && isThere(own.databaseBackup(each.deploy_id)),
    );
    const made = { ...backup, order };
    return { ...now, database_backups: [...kept, made].slice(-REMEMBERED) };
  });
  return backup;
}

/** Writes the file and reads it back; its bytes. */
async function write(op: Operation, { address, timeout }: BackupSource): Promise<number> {
  const { paths, app, deployId, io } = op;
  const key =
    openDatabaseKey(op, app.app) ?? keepDatabaseKey(op, app.app, new Secret(await newIdentity()));
  const path = paths.app(app.app).databaseBackup(deployId);
  const written = createHash('sha256');
  let bytes = 0;
  const save = async (dump: AsyncIterable<Uint8Array>) => {
    const packed = packedAs(address, hashing(dump, written));
    await writeStream(path, io.pid, await encryptedFor(packed, key.reveal()), (length) => {
      bytes += length;
    });
  };
  try {
    await dumpTo(op, address, { signal: op.signal, timeout, output: save });
    const read = createHash('sha256');
    let isEmpty = true;
    for await (const _ of hashing(openBackup(op, address, deployId), read)) isEmpty = false;
    if (isEmpty || written.digest('hex') !== read.digest('hex'))
      throw new Failure('backup_unreadable', 'the backup cannot be read back as it was written');
    return bytes;
  } catch (error) {
    rmSync(path, { force: true });
    if (!(error instanceof Failure)) throw error;
    const words = `the database could not be backed up: ${op.redact(error.message)}`;
    throw refused(words, op.signal.aborted ? 'operator' : 'server');
  }
}

const DUMP = {
  postgres: ['-Fc', '-Z1', '-w', '--lock-wait-timeout=5s'],
  mysql: [
    ...['--loose-set-gtid-purged=OFF', '--loose-column-statistics=0'],
    ...['--routines', '--triggers', '--events', '--hex-blob', '--no-tablespaces'],
    ...['--single-transaction', '--quick', '--default-character-set=utf8mb4'],
  ],
};

/** Whether the history of tables with SYSTEM VERSIONING can be put back: since MariaDB 10.11. */
const CAN_HAVE_HISTORY = "SHOW VARIABLES LIKE 'system_versioning_insert_history'";
/** The tool refuses a database with such a table altogether. */
const HAS_TRANSACTIONS = `SELECT TABLE_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()
  AND GENERATION_EXPRESSION = 'ROW START' AND DATA_TYPE = 'bigint'`;

/** A column that MySQL, not MariaDB, generates. */
const GENERATED = `SELECT CONCAT(TABLE_NAME, '.', COLUMN_NAME) FROM information_schema.COLUMNS
  WHERE TABLE_SCHEMA = DATABASE() AND GENERATION_EXPRESSION <> '' AND VERSION() NOT LIKE '%MariaDB%' LIMIT 1`;

/** Throws a Failure where a dump could not be put back: MariaDB's tool gives such a column a value. */
async function refuseGenerated(address: DatabaseAddress, limits: ToolLimits): Promise<void> {
  const [[column] = []] = await query(address, GENERATED, limits);
  if (column === undefined) return;
  const version = await runTool(address, 'dump', { args: ['--version'] }, limits);
  if (!version.includes('MariaDB')) return;
  const words = `MariaDB's tools cannot back up ${harmlessLine(column)}, which MySQL generates`;
  throw new Failure('not_configured', `${words}: install those of MySQL in their place`);
}

async function dumpTo(
  op: Operation,
  address: DatabaseAddress,
  limits: ToolLimits & Required<Pick<ToolLimits, 'output'>>,
): Promise<void> {
  const { kind } = address;
  const { output, ...rest } = limits;
  if (kind !== 'sqlite') {
    if (kind === 'mysql') await refuseGenerated(address, rest);
    const has = async (sql: string) => (await query(address, sql, rest)).length > 0;
    const isWhole =
      kind === 'mysql' && (await has(CAN_HAVE_HISTORY)) && !(await has(HAS_TRANSACTIONS));
    const more = isWhole ? ['--loose-dump-history'] : [];
    await runTool(address, 'dump', { args: [...DUMP[kind], ...more] }, limits);
    return;
  }
  await inTemporary(op, async (temporary) => {
    const copy = join(temporary, 'copy.sqlite');
    await query(address, `VACUUM INTO '${copy.replaceAll("'", "''")}'`, { ...rest, temporary });
    // The commit decides what the tool does: it could put a link there, or a pipe.
    const fd = openSync(copy, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    await output(createReadStream('', { fd }));
  });
}

/** Gives a folder of its own in which tools may write; what a kill leaves, the next deploy removes. */
export async function inTemporary<T>(
  { paths, app }: Pick<Operation, 'paths' | 'app'>,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(paths.app(app.app).releases, '.tmp-database-'));
  try {
    return await work(folder);
  } finally {
    removeTree(folder);
  }
}

async function* hashing(
  bytes: AsyncIterable<Uint8Array>,
  hash: ReturnType<typeof createHash>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    hash.update(chunk);
    yield chunk;
  }
}

/** An archive of PostgreSQL is compressed already. */
function packedAs(
  { kind }: DatabaseAddress,
  bytes: AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  if (kind === 'postgres') return bytes;
  return pipeline(Readable.from(bytes), createGzip({ level: 1 }), () => {});
}

/** The bytes of a backup, each authenticated. Throws `backup_unreadable`, and what opening a secret throws. */
export async function* openBackup(
  op: Operation,
  { kind }: DatabaseAddress,
  id: string,
): AsyncGenerator<Uint8Array> {
  const { paths, app } = op;
  const key = openDatabaseKey(op, app.app);
  if (!key) throw new Failure('backup_unreadable', 'the key of the backups is not there');
  const sealed = createReadStream(paths.app(app.app).databaseBackup(id));
  const plain = decrypted(sealed, { identity: key.reveal() });
  try {
    if (kind === 'postgres') yield* plain;
    else yield* pipeline(Readable.from(plain), createGunzip(), () => {});
  } finally {
    sealed.destroy();
  }
}
