/** A row in each table of a copy, so that a migration that goes through rows finds one. */
import type { DatabaseAddress } from './address.ts';
import type { Catalogue, CatalogueEntry } from './catalogue.ts';
import { query } from './query.ts';
import { isBookkeeping } from './scratch.ts';
import type { ToolLimits } from './tools.ts';

/** Names of the tables, without those of migration tools. */
export const tablesOf = ({ entries }: Catalogue) =>
  entries
    .filter(({ kind, name }) => kind === 'table' && !isBookkeeping(name))
    .map(({ name }) => name);
export const columnsOf = ({ entries }: Catalogue, table: string) =>
  entries.filter(({ kind, owner }) => kind === 'column' && owner === table);
/** A name in a statement. */
export const quoted = (kind: DatabaseAddress['kind'], name: string) =>
  kind === 'mysql'
    ? `\`${name.replaceAll('`', '``')}\``
    : name
        .split('.')
        .map((part) => `"${part.replaceAll('"', '""')}"`)
        .join('.');

/** A value that is the same in all columns of a type: so keys point to each other. */
function seedValue({ text }: CatalogueEntry, { entries }: Catalogue): string {
  const type = text.toLowerCase();
  const label = entries.find(({ kind, owner }) => kind === 'enum value' && owner === text);
  if (label) return `'${label.name.replaceAll("'", "''")}'`;
  if (/\[\]$|range/.test(type)) return "'{}'";
  if (/^(date|timestamp)/.test(type)) return "'2000-01-01'";
  if (/^time/.test(type)) return "'00:00'";
  if (/^uuid/.test(type)) return "'00000000-0000-4000-8000-000000000001'";
  if (/^json/.test(type)) return "'{}'";
  return /^(inet|cidr)/.test(type) ? "'127.0.0.1'" : "'1'";
}

const MOVE_SEQUENCES =
  "SELECT nextval(oid::regclass), nextval(oid::regclass) FROM pg_class WHERE relkind = 'S';";
/** In the copy of a schema they are not filled, and cannot be read. */
const FILL_VIEWS = `DO $$ DECLARE v regclass; BEGIN FOR v IN SELECT oid FROM pg_class WHERE relkind = 'm' ORDER BY oid LOOP
  BEGIN EXECUTE format('REFRESH MATERIALIZED VIEW %s', v); EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP; END $$;`;

/** Puts a row into each table, so that a migration that goes through rows finds one. Best effort. */
export async function seed(address: DatabaseAddress, before: Catalogue, limits: ToolLimits) {
  const { kind } = address;
  const inserts = tablesOf(before).map((table) => {
    const columns = columnsOf(before, table).filter(
      ({ made, fallback }) => made === '' && !fallback.startsWith('nextval'),
    );
    const names = columns.map(({ name }) => quoted(kind, name)).join(', ');
    const values = columns.map((column) =>
      kind === 'mysql' && /^enum|^set/.test(column.text) ? '1' : seedValue(column, before),
    );
    const name = quoted(kind, table);
    if (columns.length === 0)
      return kind === 'mysql'
        ? `INSERT INTO ${name} () VALUES ();`
        : `INSERT INTO ${name} DEFAULT VALUES;`;
    const from = kind === 'mysql' ? 'FROM DUAL ' : '';
    return `INSERT INTO ${name} (${names}) SELECT ${values.join(', ')} ${from}WHERE NOT EXISTS (SELECT 1 FROM ${name});`;
  });
  const off = ['SET foreign_key_checks = 0;'];
  // A row comes after those that it points to. Sequences move: then one that is set back is seen.
  const all =
    kind === 'mysql'
      ? [...off, ...inserts]
      : [inserts, inserts, inserts, FILL_VIEWS, MOVE_SEQUENCES].flat();
  await query(address, all.join('\n'), { ...limits, isForced: true });
}
