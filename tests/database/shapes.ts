/** The old version of an app: its tables with rows, and the statements that it always sends. */
import type { TestDatabases } from '@runner/testing/databases';

export type DatabaseKind = TestDatabases['kind'];

/** The names of a small shop. */
export interface Shape {
  readonly parent: string;
  readonly child: string;
  readonly view: string;
  readonly mail: string;
  readonly sum: string;
  readonly state: string;
}

export const SHAPES: readonly Shape[] = [
  {
    parent: 'users',
    child: 'orders',
    view: 'order_lines',
    mail: 'email',
    sum: 'total',
    state: 'status',
  },
  {
    parent: 'members',
    child: 'loans',
    view: 'open_loans',
    mail: 'login',
    sum: 'days',
    state: 'phase',
  },
  {
    parent: 'Accounts',
    child: 'Transfers',
    view: 'Ledger',
    mail: 'iban',
    sum: 'amount',
    state: 'State',
  },
];

/** `{parent}` and the like in a text; names in capitals are quoted where the database folds them. */
export function inShape(text: string, shape: Shape, kind: DatabaseKind): string {
  const quote = (name: string) =>
    /[A-Z]/.test(name) ? (kind === 'mysql' ? `\`${name}\`` : `"${name}"`) : name;
  return text.replace(/\{(\w+)\}/g, (whole, key: string) =>
    key in shape ? quote(shape[key as keyof Shape]) : whole,
  );
}

const ID = {
  postgres: 'id bigserial PRIMARY KEY',
  mysql: 'id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY',
  sqlite: 'id integer PRIMARY KEY AUTOINCREMENT',
};
const KIND = {
  postgres: 'kind size_kind',
  mysql: "kind enum('small','large')",
  sqlite: "kind text CHECK (kind IN ('small', 'large'))",
};

/** The tables and their rows. */
export function tablesOf(kind: DatabaseKind): string {
  return `${kind === 'postgres' ? "CREATE TYPE size_kind AS ENUM ('small', 'large');" : ''}
CREATE TABLE schema_migrations (version varchar(40) NOT NULL PRIMARY KEY);
INSERT INTO schema_migrations VALUES ('1'), ('2');
CREATE TABLE {parent} (${ID[kind]}, {mail} varchar(80) NOT NULL UNIQUE, name varchar(40), age integer NOT NULL DEFAULT 0);
CREATE TABLE {child} (${ID[kind]}, parent_id bigint NOT NULL, {sum} integer NOT NULL, {state} varchar(20) NOT NULL DEFAULT 'new',
  note text, ${KIND[kind]}, price numeric(8,2), placed timestamp NULL, FOREIGN KEY (parent_id) REFERENCES {parent} (id) ON DELETE CASCADE);
CREATE INDEX by_state ON {child} ({state});
CREATE TABLE tags (${ID[kind]}, word varchar(30) NOT NULL);
CREATE VIEW {view} AS SELECT c.id, p.{mail}, c.{sum} FROM {child} c JOIN {parent} p ON p.id = c.parent_id;
INSERT INTO {parent} ({mail}, name, age) VALUES ('ann@x.org', 'Ann', 41), ('bob@x.org', NULL, 0), ('cy@x.org', 'Cy', 7);
INSERT INTO {child} (parent_id, {sum}, {state}, note, kind, price, placed) VALUES (1, 100, 'new', NULL, 'small', 1.50, '2024-05-01 10:00:00'),
  (1, 9, 'paid', 'soon', 'large', NULL, NULL), (2, 25, 'Sent', '', NULL, 20, '2024-05-02 11:30:00'), (2, 9, 'paid', 'soon', NULL, 0.05, NULL);
INSERT INTO tags (word) VALUES ('red'), ('blue');
`;
}

const UPSERT = {
  postgres: 'ON CONFLICT ({mail}) DO UPDATE SET name = excluded.name',
  mysql: 'ON DUPLICATE KEY UPDATE name = VALUES(name)',
  sqlite: 'ON CONFLICT ({mail}) DO UPDATE SET name = excluded.name',
};
/** How a driver reads the columns: as a number, a text, a date. */
const TYPES = {
  postgres: `SELECT ${['id', '{sum}', '{state}', 'note', 'kind', 'price', 'placed'].map((name) => `pg_typeof({child}.${name})`).join(', ')} FROM {child} LIMIT 1`,
  mysql: `SELECT COLUMN_NAME, DATA_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND COLUMN_NAME IN ('id', '{raw_sum}', '{raw_state}', 'note', 'kind', 'price', 'placed') AND TABLE_NAME = '{raw_child}' ORDER BY 1`,
  sqlite: `SELECT ${['id', '{sum}', '{state}', 'note', 'kind', 'price', 'placed'].map((name) => `typeof(${name})`).join(', ')} FROM {child} ORDER BY id`,
};

/** What the old version sends. One a transaction, which is rolled back. */
export function oldStatements(kind: DatabaseKind): string[] {
  const long = 'x'.repeat(200);
  return [
    'SELECT id, {mail}, name, age FROM {parent} ORDER BY id',
    'SELECT * FROM {parent} ORDER BY id',
    'SELECT * FROM {child} ORDER BY id',
    'SELECT id, {sum} * 2, {state}, note, kind, price, placed FROM {child} ORDER BY {sum}, id',
    'SELECT count(*), sum({sum}), max(price) FROM {child} WHERE {sum} > 10',
    "SELECT id, note FROM {child} WHERE {state} = 'paid' AND placed IS NULL ORDER BY id",
    'SELECT id, {mail}, {sum} FROM {view} ORDER BY id',
    'SELECT id, word FROM tags ORDER BY id',
    TYPES[kind],
    "INSERT INTO {parent} ({mail}, name, age) VALUES ('dee@x.org', NULL, 0)",
    "INSERT INTO {parent} ({mail}) VALUES ('eve@x.org')",
    "INSERT INTO {parent} ({mail}, name, age) VALUES ('flo@x.org', 'Ann', 41)",
    `INSERT INTO {parent} ({mail}, name) VALUES ('bob@x.org', 'Bob') ${UPSERT[kind]}`,
    "INSERT INTO {child} (parent_id, {sum}, {state}, note, kind, price) VALUES (1, -5, 'refunded', NULL, NULL, NULL)",
    `INSERT INTO {child} (parent_id, {sum}, note, kind, price) VALUES (3, 0, '${long}', 'large', 99999.99)`,
    "INSERT INTO tags (word) VALUES ('red')",
    "UPDATE {child} SET {state} = 'paid', note = 'late' WHERE id = 1",
    'UPDATE {child} SET note = NULL, placed = NULL, price = NULL',
    'UPDATE {parent} SET name = NULL, age = age + 1 WHERE id = 1',
    'DELETE FROM {child} WHERE id = 2',
    'DELETE FROM {parent} WHERE id = 3',
    'DELETE FROM {parent} WHERE id = 1',
    'DELETE FROM tags WHERE id = 1',
  ];
}
