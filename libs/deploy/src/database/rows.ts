/** Which rows a migration changes, seen on a copy that has hardly any. */
import type { DatabaseAddress } from './address.ts';
import type { Catalogue } from './catalogue.ts';
import { query } from './query.ts';
import { startRelay } from './relay.ts';
import { BOOKKEEPING_LIST } from './scratch.ts';
import { columnsOf, quoted, seed, tablesOf } from './seed.ts';
import { mayWriteUnseen, tablesWritten } from './statements.ts';
import type { ToolLimits } from './tools.ts';

/** How a copy is watched. */
export interface RowsRequest extends ToolLimits {
  readonly isSeeded: boolean;
  /** Name of the database that the copy is of. */
  readonly production: string;
  /** Of PostgreSQL: tables in which only an UPDATE of a column of before counts. */
  readonly gaining?: readonly string[] | undefined;
}

/** Watches the tables of a copy during a migration. */
interface TablesWatch {
  /** The URL for the migration, if it is another one. */
  readonly url?: string;
  /** Those whose rows are changed. */
  changed(after: Catalogue): Promise<readonly string[]>;
  /** Whether rows of any table may be changed, too. */
  mayChangeMore?(after: Catalogue): boolean;
  /** Why the run, which ended well or not, says nothing of the migration; undefined as a rule. */
  problem?(ok: boolean): string | undefined;
  close?(): void;
}

async function filled(address: DatabaseAddress, tables: readonly string[], limits: ToolLimits) {
  if (tables.length === 0) return [];
  const each = tables.map(
    (name, at) => `SELECT ${at} WHERE EXISTS (SELECT 1 FROM ${quoted(address.kind, name)})`,
  );
  const rows = await query(address, each.join(' UNION ALL '), limits);
  return rows.map(([at]) => tables[Number(at)] as string);
}
const others = (list: readonly string[], without: readonly string[]) =>
  list.filter((name) => !without.includes(name));

/** The columns of a table by their numbers: a name may be given to another one. */
const COLUMNS = `(SELECT jsonb_object_agg(attnum, attname) FROM pg_attribute WHERE attrelid = w.oid AND attnum > 0
  AND NOT attisdropped)`;
/**
 * Each write to a table is noted; to one that gains columns an UPDATE only if it names a column of before, or if
 * a trigger or a partition may write more.
 */
const triggersFor = (gaining: readonly string[]) => `
DROP SCHEMA IF EXISTS runner_rehearsal CASCADE;
CREATE SCHEMA runner_rehearsal;
CREATE TABLE runner_rehearsal.touched (name text, oid oid);
CREATE TABLE runner_rehearsal.watched (name text, oid oid, reads bigint, columns jsonb);
GRANT USAGE ON SCHEMA runner_rehearsal TO PUBLIC;
CREATE FUNCTION runner_rehearsal.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog AS $$ BEGIN
  IF TG_NARGS = 0 OR EXISTS (SELECT FROM pg_inherits WHERE inhparent = TG_RELID) OR EXISTS (SELECT FROM pg_trigger
    WHERE tgrelid = TG_RELID AND NOT tgisinternal AND tgname NOT LIKE 'runner\\_rehearsal%') THEN
    INSERT INTO runner_rehearsal.touched SELECT name, oid FROM runner_rehearsal.watched WHERE oid = TG_RELID;
  END IF;
  RETURN NULL; END $$;
INSERT INTO runner_rehearsal.watched (name, oid, reads)
  SELECT CASE nspname WHEN 'public' THEN '' ELSE nspname || '.' END || c.relname, c.oid,
  coalesce(seq_scan, 0) + coalesce(idx_scan, 0) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
  LEFT JOIN pg_stat_all_tables s ON s.relid = c.oid WHERE c.relkind IN ('r', 'p')
  AND nspname NOT LIKE 'pg\\_%' AND nspname NOT IN ('information_schema', 'runner_rehearsal')
  AND c.relname NOT IN ${BOOKKEEPING_LIST}
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e');
UPDATE runner_rehearsal.watched w SET columns = ${COLUMNS};
DO $$ DECLARE t oid; old text; BEGIN FOR t, old IN SELECT oid, CASE WHEN name
    IN (${["''", ...gaining.map((name) => `'${name.replaceAll("'", "''")}'`)].join(', ')}) THEN 'OF '
    || (SELECT string_agg(quote_ident(value), ', ') FROM jsonb_each_text(columns)) END FROM runner_rehearsal.watched LOOP
  EXECUTE format('CREATE TRIGGER runner_rehearsal BEFORE INSERT OR UPDATE %s OR DELETE OR TRUNCATE ON %s
    FOR EACH STATEMENT EXECUTE FUNCTION runner_rehearsal.note()', coalesce(old, ''), t::regclass);
  EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER runner_rehearsal', t::regclass);
  CONTINUE WHEN old IS NULL;
  EXECUTE format('CREATE TRIGGER runner_rehearsal_more BEFORE UPDATE ON %s FOR EACH STATEMENT
    EXECUTE FUNCTION runner_rehearsal.note(''unless nothing else is written'')', t::regclass);
  EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER runner_rehearsal_more', t::regclass);
END LOOP; END $$;`;

/** A table that is made again under its name has no trigger of ours, a column another number. */
const NOTED = `SELECT name FROM runner_rehearsal.touched UNION SELECT name FROM runner_rehearsal.watched w
  WHERE NOT EXISTS (SELECT FROM pg_trigger t WHERE tgrelid = w.oid AND tgname = 'runner_rehearsal' AND tgenabled = 'A')
  OR EXISTS (SELECT FROM jsonb_each_text(w.columns) old JOIN pg_attribute ON attrelid = w.oid AND attname = old.value
    AND attnum::text <> old.key AND NOT attisdropped)`;
const READ = `SELECT name FROM runner_rehearsal.watched w JOIN pg_stat_all_tables s ON s.relid = w.oid
  WHERE coalesce(seq_scan, 0) + coalesce(idx_scan, 0) > reads`;

async function watchPostgres(
  address: DatabaseAddress,
  before: Catalogue,
  limits: RowsRequest,
): Promise<TablesWatch> {
  const seen = await filled(address, tablesOf(before), limits);
  await query(address, triggersFor(limits.gaining ?? []), limits);
  return {
    async changed() {
      const noted = (await query(address, NOTED, limits)).map(([name = '']) => name);
      const read = (await query(address, READ, limits)).map(([name = '']) => name);
      return [...noted, ...others(read, seen)];
    },
  };
}

const routinesOf = ({ entries }: Catalogue) =>
  entries.filter(({ kind }) => kind === 'function').map(({ name }) => name);
/** Names of columns that are there before and after, of each table. */
const keptColumns = (before: Catalogue, after: Catalogue) => (table: string) => {
  const there = new Set(columnsOf(after, table).map(({ name }) => name));
  return columnsOf(before, table)
    .map(({ name }) => name)
    .filter((name) => there.has(name));
};

async function watchMysql(
  address: DatabaseAddress,
  before: Catalogue,
  limits: RowsRequest,
): Promise<TablesWatch> {
  const tables = tablesOf(before);
  const unseen = others(tables, await filled(address, tables, limits));
  const relay = await startRelay(address, limits.production);
  return {
    url: relay.url,
    changed: async (after) =>
      tablesWritten(relay.statements, { tables, unseen, columns: keptColumns(before, after) }),
    mayChangeMore: (after) =>
      mayWriteUnseen(relay.statements, [...routinesOf(before), ...routinesOf(after)]),
    problem(ok) {
      if (relay.isStopped()) return 'the migration names the database of production';
      // What fails before it connects would fail on the database, too.
      return relay.statements.length === 0 && (ok || relay.wasReached())
        ? 'none of its statements arrives: it uses another address, or the server demands TLS'
        : undefined;
    },
    close: relay.close,
  };
}

async function watchSqlite(
  address: DatabaseAddress,
  before: Catalogue,
  limits: ToolLimits,
): Promise<TablesWatch> {
  const tables = tablesOf(before);
  const hashes = async (now: Catalogue) => {
    const texts = tables.flatMap((table) => {
      const columns = columnsOf(before, table).map(({ name }) => quoted('sqlite', name));
      const there = new Set(columnsOf(now, table).map(({ name }) => quoted('sqlite', name)));
      const isWhole = columns.length > 0 && columns.every((name) => there.has(name));
      const list = columns.join(', ');
      const rows = `SELECT ${list} FROM ${quoted('sqlite', table)} ORDER BY ${list}`;
      const text = (words: string) => `'${words.replaceAll("'", "''")}'`;
      return isWhole ? [`SELECT ${text(table)}, hex(sha3_query(${text(rows)}))`] : [];
    });
    return texts.length === 0 ? [] : query(address, texts.join(';\n').concat(';'), limits);
  };
  const old = new Map((await hashes(before)) as [string, string][]);
  return {
    async changed(after) {
      const now = await hashes(after);
      return now.filter(([name = '', hash]) => old.get(name) !== hash).map(([name = '']) => name);
    },
  };
}

const WATCHES = { postgres: watchPostgres, mysql: watchMysql, sqlite: watchSqlite };

/** Prepares a copy and watches it, until the end of the block with `using`. */
export async function watchRows(address: DatabaseAddress, before: Catalogue, request: RowsRequest) {
  const { kind } = address;
  if (request.isSeeded && kind !== 'sqlite') await seed(address, before, request);
  const watch: TablesWatch = await WATCHES[kind](address, before, request);
  return {
    url: watch.url ?? address.url,
    /** Tables of before whose rows are changed, and new ones that have rows. */
    async touched(after: Catalogue): Promise<readonly string[]> {
      const fresh = others(tablesOf(after), tablesOf(before));
      return [...(await watch.changed(after)), ...(await filled(address, fresh, request))];
    },
    mayChangeMore: (after: Catalogue) => watch.mayChangeMore?.(after) ?? false,
    problem: (ok: boolean) => watch.problem?.(ok),
    [Symbol.dispose]: () => watch.close?.(),
  };
}
