/** Puts a backup into its database, in place of all that is there. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeStream } from '@runner/backup/backup';
import { namesIn } from '@runner/common/files/read';
import { onFailure } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import type { Operation } from '../journal/operation.ts';
import { type DatabaseAddress, otherDatabase } from './address.ts';
import { type BackupSource, inTemporary, openBackup } from './backup.ts';
import { query, streamForOlderServer } from './query.ts';
import { outputOf, runTool } from './tools.ts';

/** Schemas that stay: those of others, and public, which each database has. */
const KEPT_SCHEMAS = `SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
  AND (nspname = 'public' OR NOT pg_has_role(nspowner, 'USAGE'))`;

/** Drops what the user owns but extensions: a backup of pg_dump drops only what it has itself. */
const DROP_ALL = `DO $drop$
DECLARE one record;
BEGIN
  FOR one IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
    AND nspname NOT IN (${KEPT_SCHEMAS}) LOOP
    EXECUTE format('DROP SCHEMA %I CASCADE', one.nspname);
  END LOOP;
  FOR one IN
    SELECT * FROM (
      SELECT c.oid, relowner AS owner, nspname, CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW'
        WHEN 'S' THEN 'SEQUENCE' WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END AS what,
        format('%I.%I', nspname, relname) AS name, CASE relkind WHEN 'S' THEN 2 ELSE 1 END AS turn
      FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
      UNION ALL
      SELECT p.oid, proowner, nspname, 'ROUTINE', p.oid::regprocedure::text, 3
      FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
      UNION ALL
      SELECT t.oid, typowner, nspname, 'TYPE', format('%I.%I', nspname, typname), 4
      FROM pg_type t JOIN pg_namespace n ON n.oid = typnamespace LEFT JOIN pg_class c ON c.oid = typrelid
      WHERE typtype IN ('e', 'd', 'r') OR c.relkind = 'c'
      UNION ALL
      SELECT o.oid, owner, nspname, upper(i.type), i.identity, 5
      FROM (SELECT tableoid, oid, collowner AS owner, collnamespace AS space FROM pg_collation
        UNION ALL SELECT tableoid, oid, cfgowner, cfgnamespace FROM pg_ts_config
        UNION ALL SELECT tableoid, oid, dictowner, dictnamespace FROM pg_ts_dict
        UNION ALL SELECT tableoid, oid, oprowner, oprnamespace FROM pg_operator
        UNION ALL SELECT tableoid, oid, opfowner, opfnamespace FROM pg_opfamily
        UNION ALL SELECT tableoid, oid, conowner, connamespace FROM pg_conversion
        UNION ALL SELECT tableoid, oid, pubowner, NULL FROM pg_publication
        UNION ALL SELECT tableoid, oid, srvowner, NULL FROM pg_foreign_server
        UNION ALL SELECT tableoid, oid, evtowner, NULL FROM pg_event_trigger) o
      LEFT JOIN pg_namespace n ON n.oid = space, pg_identify_object(o.tableoid, o.oid, 0) i
    ) every WHERE (nspname IS NULL OR nspname IN (${KEPT_SCHEMAS})) AND pg_has_role(owner, 'USAGE')
      AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = every.oid AND d.deptype = 'e')
    ORDER BY turn LOOP
    EXECUTE format('DROP %s IF EXISTS %s CASCADE', one.what, one.name);
  END LOOP;
  -- Default privileges would be granted on each table that is made again: they come back last.
  FOR one IN
    SELECT DISTINCT format('ALTER DEFAULT PRIVILEGES FOR ROLE %s%s ', defaclrole::regrole,
        ' IN SCHEMA ' || nullif(defaclnamespace, 0)::regnamespace) AS what, ' ALL ON ' || CASE defaclobjtype
        WHEN 'r' THEN 'TABLES' WHEN 'S' THEN 'SEQUENCES' WHEN 'f' THEN 'ROUTINES' WHEN 'T' THEN 'TYPES'
        WHEN 'n' THEN 'SCHEMAS' ELSE 'LARGE OBJECTS' END AS objects,
      CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END AS role,
      defaclnamespace = 0 AND (grantee = defaclrole OR grantee = 0 AND defaclobjtype IN ('f', 'T')) AS stays
    FROM pg_default_acl, aclexplode(defaclacl ||
      CASE defaclnamespace WHEN 0 THEN acldefault(defaclobjtype, defaclrole) END)
    WHERE pg_has_role(defaclrole, 'USAGE') LOOP
    EXECUTE one.what || 'REVOKE' || one.objects || ' FROM ' || one.role;
    IF one.stays THEN EXECUTE one.what || 'GRANT' || one.objects || ' TO ' || one.role; END IF;
  END LOOP;
  PERFORM lo_unlink(oid) FROM pg_largeobject_metadata WHERE pg_has_role(lomowner, 'USAGE');
END $drop$;
`;

/** Held until the transaction ends: a connection that is lost at its COMMIT does not say how. */
const HOLD = 'SELECT pg_advisory_xact_lock(7214091837);';
/** On PostgreSQL: another answer than before where a backup was put back. */
export const MADE = `${HOLD} SELECT md5(string_agg(oid::text, ' ' ORDER BY oid)) FROM pg_class
  WHERE relnamespace::regnamespace::text !~ '^pg_'`;

/** Entries of an archive that stay as they are, with the schemas and extensions that stay. */
const STAYING =
  /^\d+; \d+ \d+ (?:COMMENT - EXTENSION |(?:SCHEMA - |COMMENT - SCHEMA |ACL - SCHEMA )(\S+) )/;

/** One transaction, whose end pg_restore writes: an input that ends early is undone. */
async function intoPostgres(
  op: Operation,
  { address, timeout, lock }: BackupSource,
  id: string,
  temporary: string,
): Promise<void> {
  const kept = (await query(address, KEPT_SCHEMAS)).map(([name]) => name);
  const limits = { timeout, temporary };
  const all = await runTool(
    address,
    'archive',
    { args: ['-l'], input: openBackup(op, address, id) },
    limits,
  );
  const entries = all.split('\n').filter((line) => {
    const [whole, schema] = STAYING.exec(line) ?? [];
    return whole === undefined || (schema !== undefined && !kept.includes(schema));
  });
  const list = join(temporary, 'list');
  writeFileSync(list, entries.join('\n'), { mode: 0o600 });
  async function* statements() {
    yield `\\set ON_ERROR_STOP 1\nBEGIN;\nSET LOCAL lock_timeout = 5000;\n${HOLD}\n${DROP_ALL}`;
    // One transaction of its own, too: by default what it writes commits after large objects.
    const words = { args: ['-1', '-L', list, '-f', '-'], input: openBackup(op, address, id) };
    yield* streamForOlderServer(outputOf(address, 'archive', words, limits));
  }
  const args = ['-X', '-q', '-w', '-o', '/dev/null', '-f', '-'];
  await runTool(address, 'client', { args, input: statements() }, { ...limits, lock });
}

/** Whose rights something in a dump of MySQL has: a user's or, in MariaDB, a role's; data begins no line. */
const DEFINER =
  /^(?:CREATE (?:ALGORITHM=\w+ )?|\/\*!\d+ (?:CREATE\*\/ \/\*!\d+ )?)DEFINER=(`(?:[^`]|``)+`(?:@`(?:[^`]|``)*`)?)/gm;
/** Longer than any beginning of a line with one. */
const DEFINER_MAX = 1_024;

/** Throws a Failure where the user may not make again what others have made: MySQL drops it before that shows. */
export async function refuseOthers(op: Operation, { address }: BackupSource, id: string) {
  if (address.kind !== 'mysql') return;
  const definers = new Set<string>();
  let rest = '';
  for await (const chunk of openBackup(op, address, id)) {
    const text = rest + Buffer.from(chunk).toString('utf8');
    for (const [, by = ''] of text.matchAll(DEFINER)) definers.add(by);
    rest = text.slice(-DEFINER_MAX);
  }
  const [[own = ''] = []] = await query(address, 'SELECT CURRENT_USER()');
  for (const by of definers) {
    // To make its own a user needs no right to make views.
    if (by.replaceAll('`', '') === own) continue;
    const make = `CREATE OR REPLACE DEFINER=${by} VIEW runner_try AS SELECT 1;\nDROP VIEW runner_try;`;
    const refused = onFailure(({ code, message }) => {
      const words = `the user of the database may not make again what ${by} has made`;
      throw new Failure(code, `${words}: ${message}`);
    });
    await query(address, make).catch(refused);
  }
}

/**
 * What empties a MySQL database, a statement each. Without `DROP DATABASE`: after a kill behind it there would be none
 * to connect to.
 */
const DROPS = `WITH every(turn, what, name) AS (
  SELECT 1, 'EVENT', event_name FROM information_schema.events WHERE event_schema = DATABASE()
  UNION ALL SELECT 2, routine_type, routine_name FROM information_schema.routines WHERE routine_schema = DATABASE()
  UNION ALL SELECT 3, CASE table_type WHEN 'VIEW' THEN 'VIEW' ELSE 'TABLE' END, table_name
  FROM information_schema.tables WHERE table_schema = DATABASE())
  SELECT CONCAT('DROP ', what, ' IF EXISTS \`', REPLACE(name, '\`', '\`\`'), '\`;') FROM every ORDER BY turn, name`;

/** MySQL has no transactions for tables: what is ended half way has to be done once more. */
async function intoMysql(op: Operation, { address, timeout, lock }: BackupSource, id: string) {
  const drops = await query(address, DROPS);
  async function* statements() {
    yield `SET SESSION foreign_key_checks = 0;\n${drops.join('\n')}\n`;
    yield* openBackup(op, address, id);
  }
  const args = ['--default-character-set=utf8mb4'];
  await runTool(address, 'client', { args, input: statements() }, { timeout, lock });
}

/** The file stays the one that it is: what has it open sees the change. */
async function intoSqlite(
  op: Operation,
  { address, timeout, lock }: BackupSource,
  id: string,
  temporary: string,
) {
  const path = join(temporary, 'copy.sqlite');
  const limits = { timeout, temporary };
  await writeStream(path, op.io.pid, openBackup(op, address, id), () => {});
  const copy = otherDatabase(address, path);
  const [[found] = []] = await query(copy, 'PRAGMA integrity_check', limits);
  if (found !== 'ok') throw new Failure('backup_unreadable', `it is damaged: ${found}`);
  await query(address, `.restore '${path.replaceAll("'", "''")}'`, {
    ...limits,
    lock,
  });
}

const INTO: Readonly<Record<DatabaseAddress['kind'], typeof intoPostgres>> = {
  postgres: intoPostgres,
  mysql: intoMysql,
  sqlite: intoSqlite,
};

/** Throws a Failure; then PostgreSQL and SQLite are as they were. */
export function putBack(op: Operation, source: BackupSource, id: string): Promise<void> {
  const { databaseBackups: folder } = op.paths.app(op.app.app);
  // What a kill left there is not encrypted.
  for (const name of namesIn(folder).filter((each) => !each.endsWith('.age')))
    rmSync(join(folder, name), { force: true });
  return inTemporary(op, (folder) => INTO[source.address.kind](op, source, id, folder));
}
