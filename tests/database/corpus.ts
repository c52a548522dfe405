/** Migrations as people write them. `{parent}` and the like are the names of a shape. */
import type { DatabaseKind } from './shapes.ts';

/** A migration: its SQL for each database that knows it. */
export interface SampleMigration {
  readonly name: string;
  readonly sql: Readonly<Partial<Record<DatabaseKind, string>>>;
}

const all = (name: string, sql: string): SampleMigration => ({
  name,
  sql: { postgres: sql, mysql: sql, sqlite: sql },
});
const servers = (name: string, postgres: string, mysql = postgres): SampleMigration => ({
  name,
  sql: { postgres, mysql },
});
const each = (name: string, postgres: string, mysql: string, sqlite: string): SampleMigration => ({
  name,
  sql: { postgres, mysql, sqlite },
});

/** The way of SQLite: a new table, its rows, the old name. */
const rebuild = (columns: string, list: string) =>
  `PRAGMA foreign_keys = OFF; DROP VIEW {view}; CREATE TABLE fresh (${columns}); INSERT INTO fresh (${list}) SELECT ${list} FROM {parent};
DROP TABLE {parent}; ALTER TABLE fresh RENAME TO {parent};
CREATE VIEW {view} AS SELECT c.id, p.{mail}, c.{sum} FROM {child} c JOIN {parent} p ON p.id = c.parent_id;`;
const PARENT = 'id, {mail}, name, age';
const SERIAL = 'id integer PRIMARY KEY AUTOINCREMENT, ';

const EXPAND = [
  all('a nullable column', 'ALTER TABLE {child} ADD COLUMN coupon varchar(40)'),
  all(
    'a column with a default',
    "ALTER TABLE {child} ADD COLUMN currency varchar(3) DEFAULT 'EUR'",
  ),
  all(
    'a NOT NULL column with a default',
    'ALTER TABLE {parent} ADD COLUMN visits integer NOT NULL DEFAULT 0',
  ),
  all(
    'two columns',
    'ALTER TABLE {parent} ADD COLUMN a integer; ALTER TABLE {parent} ADD COLUMN b text',
  ),
  all(
    'a new table',
    'CREATE TABLE coupons (id integer PRIMARY KEY, code varchar(20) NOT NULL UNIQUE)',
  ),
  all(
    'a new table with an index',
    'CREATE TABLE visits (id integer PRIMARY KEY, day date NOT NULL); CREATE INDEX by_day ON visits (day)',
  ),
  all(
    'a new table with its rows',
    "CREATE TABLE plans (id integer PRIMARY KEY, word varchar(9)); INSERT INTO plans VALUES (1, 'free'), (2, 'paid')",
  ),
  all(
    'a new child table',
    'CREATE TABLE profiles (id integer PRIMARY KEY, owner bigint, FOREIGN KEY (owner) REFERENCES {parent} (id))',
  ),
  all(
    'a new child table that cascades',
    'CREATE TABLE logins (id integer PRIMARY KEY, owner bigint NOT NULL, FOREIGN KEY (owner) REFERENCES {parent} (id) ON DELETE CASCADE); INSERT INTO logins SELECT id, id FROM {parent}',
  ),
  all('a plain index', 'CREATE INDEX by_parent_state ON {child} (parent_id, {state})'),
  all(
    'an index on a new column',
    'ALTER TABLE {parent} ADD COLUMN slug varchar(40); CREATE INDEX by_slug ON {parent} (slug)',
  ),
  all(
    'a unique index on a new column',
    'ALTER TABLE {parent} ADD COLUMN slug varchar(40); CREATE UNIQUE INDEX by_slug ON {parent} (slug)',
  ),
  all('a dropped index', 'CREATE INDEX own ON tags (word); DROP INDEX own {on_tags}'),
  each(
    'a dropped old index',
    'DROP INDEX by_state',
    'DROP INDEX by_state ON {child}',
    'DROP INDEX by_state',
  ),
  all('a new view', 'CREATE VIEW rich AS SELECT id, {sum} FROM {child} WHERE {sum} > 50'),
  all('a note of the tool', "INSERT INTO schema_migrations VALUES ('3')"),
  all('nothing', 'SELECT 1'),
  each(
    'a generated column',
    'ALTER TABLE {child} ADD COLUMN twice integer GENERATED ALWAYS AS ({sum} * 2) STORED',
    'ALTER TABLE {child} ADD COLUMN twice integer AS ({sum} * 2) VIRTUAL',
    'ALTER TABLE {child} ADD COLUMN twice integer AS ({sum} * 2)',
  ),
  all(
    'a column with a check of its own',
    'ALTER TABLE {parent} ADD COLUMN stars integer CHECK (stars BETWEEN 0 AND 5)',
  ),
  all(
    'a nullable reference',
    'CREATE TABLE teams (id bigint PRIMARY KEY); ALTER TABLE {parent} ADD COLUMN team_id bigint REFERENCES teams (id)',
  ),
  servers('another default', "ALTER TABLE {child} ALTER COLUMN {state} SET DEFAULT 'open'"),
  servers(
    'a wider varchar',
    'ALTER TABLE {parent} ALTER COLUMN name TYPE varchar(200)',
    'ALTER TABLE {parent} MODIFY name varchar(200)',
  ),
  servers(
    'a wider numeric',
    'ALTER TABLE {child} ALTER COLUMN price TYPE numeric(12,2)',
    'ALTER TABLE {child} MODIFY price numeric(12,2)',
  ),
  {
    name: 'a varchar that becomes text',
    sql: {
      postgres:
        'DROP VIEW {view}; ALTER TABLE {parent} ALTER COLUMN {mail} TYPE text; CREATE VIEW {view} AS SELECT c.id, p.{mail}, c.{sum} FROM {child} c JOIN {parent} p ON p.id = c.parent_id',
    },
  },
  {
    name: 'an index CONCURRENTLY',
    sql: { postgres: 'CREATE INDEX CONCURRENTLY slow ON {child} (placed)' },
  },
  {
    name: 'a uuid column',
    sql: {
      postgres: 'ALTER TABLE {child} ADD COLUMN key uuid NOT NULL DEFAULT gen_random_uuid() UNIQUE',
    },
  },
  {
    name: 'a new enum type',
    sql: {
      postgres:
        "CREATE TYPE mood AS ENUM ('good', 'bad'); ALTER TABLE {parent} ADD COLUMN mood mood",
    },
  },
  {
    name: 'a new schema',
    sql: { postgres: 'CREATE SCHEMA app2; CREATE TABLE app2.things (id bigint PRIMARY KEY)' },
  },
  {
    name: 'a new function',
    sql: {
      postgres:
        'CREATE FUNCTION twice(n integer) RETURNS integer LANGUAGE sql AS $$ SELECT n * 2 $$',
      mysql: 'CREATE FUNCTION twice(n integer) RETURNS integer DETERMINISTIC RETURN n * 2',
    },
  },
  {
    name: 'a JSON column',
    sql: {
      postgres: "ALTER TABLE {child} ADD COLUMN extra jsonb NOT NULL DEFAULT '{}'",
      mysql: 'ALTER TABLE {child} ADD COLUMN extra json',
      sqlite: 'ALTER TABLE {child} ADD COLUMN extra json',
    },
  },
];

const CONTRACT = [
  all('a dropped column', 'ALTER TABLE {child} DROP COLUMN note'),
  all('a dropped column with a default', 'ALTER TABLE {parent} DROP COLUMN age'),
  all('a dropped table', 'DROP TABLE tags'),
  all('a dropped view', 'DROP VIEW {view}'),
  all('a renamed column', 'ALTER TABLE {child} RENAME COLUMN note TO remark'),
  all(
    'a renamed column that is generated to be the old one too',
    'ALTER TABLE {parent} RENAME COLUMN name TO full_name; ALTER TABLE {parent} ADD COLUMN name varchar(40) GENERATED ALWAYS AS (full_name) {stored}',
  ),
  all('a renamed table', 'ALTER TABLE tags RENAME TO labels'),
  all(
    'a renamed table behind a view',
    'ALTER TABLE tags RENAME TO labels; CREATE VIEW tags AS SELECT id, word FROM labels',
  ),
  all(
    'NOT NULL without a default on a new column',
    'ALTER TABLE {parent} ADD COLUMN vat varchar(9) {needed}',
  ),
  servers(
    'NOT NULL on an old column',
    "UPDATE {parent} SET name = '-' WHERE name IS NULL; ALTER TABLE {parent} ALTER COLUMN name SET NOT NULL",
    "UPDATE {parent} SET name = '-' WHERE name IS NULL; ALTER TABLE {parent} MODIFY name varchar(40) NOT NULL",
  ),
  servers('no default any more', 'ALTER TABLE {parent} ALTER COLUMN age DROP DEFAULT'),
  servers(
    'a narrower varchar',
    'DROP VIEW {view}; ALTER TABLE {child} ALTER COLUMN note TYPE varchar(100); CREATE VIEW {view} AS SELECT c.id, p.{mail}, c.{sum} FROM {child} c JOIN {parent} p ON p.id = c.parent_id',
    'ALTER TABLE {child} MODIFY note varchar(100)',
  ),
  servers(
    'an integer that becomes a text',
    'DROP VIEW {view}; ALTER TABLE {child} ALTER COLUMN {sum} TYPE text; CREATE VIEW {view} AS SELECT c.id, p.{mail}, c.{sum} FROM {child} c JOIN {parent} p ON p.id = c.parent_id',
    'ALTER TABLE {child} MODIFY {sum} varchar(20) NOT NULL',
  ),
  servers(
    'a text that becomes a number',
    'ALTER TABLE {parent} ALTER COLUMN name TYPE integer USING length(name)',
    'UPDATE {parent} SET name = length(name); ALTER TABLE {parent} MODIFY name integer',
  ),
  servers(
    'a timestamp that becomes a date',
    'ALTER TABLE {child} ALTER COLUMN placed TYPE date',
    'ALTER TABLE {child} MODIFY placed date',
  ),
  servers(
    'a numeric with another scale',
    'ALTER TABLE {child} ALTER COLUMN price TYPE numeric(8,0)',
    'ALTER TABLE {child} MODIFY price numeric(8,0)',
  ),
  servers('a check', 'ALTER TABLE {child} ADD CONSTRAINT positive CHECK ({sum} >= 0)'),
  servers(
    'a check on texts',
    'ALTER TABLE {child} ADD CONSTRAINT short CHECK (length(note) < 100)',
  ),
  {
    name: 'a check NOT VALID',
    sql: { postgres: 'ALTER TABLE {child} ADD CONSTRAINT positive CHECK ({sum} > 0) NOT VALID' },
  },
  all('a unique index', 'CREATE UNIQUE INDEX one_name ON {parent} (name)'),
  all('a unique index on words', 'CREATE UNIQUE INDEX one_word ON tags (word)'),
  servers(
    'a foreign key',
    'ALTER TABLE tags ADD CONSTRAINT owned FOREIGN KEY (id) REFERENCES {child} (id)',
  ),
  all(
    'a new child table with its rows',
    'CREATE TABLE wallets (id integer PRIMARY KEY, owner bigint NOT NULL, FOREIGN KEY (owner) REFERENCES {parent} (id)); INSERT INTO wallets SELECT id, id FROM {parent}',
  ),
  servers(
    'a view without a column',
    'DROP VIEW {view}; CREATE VIEW {view} AS SELECT id, {sum} FROM {child}',
  ),
  {
    name: 'a dropped column, and its view',
    sql: {
      postgres: 'ALTER TABLE {child} DROP COLUMN {sum} CASCADE',
      mysql: 'ALTER TABLE {child} DROP COLUMN {sum}',
    },
  },
  {
    name: 'a renamed enum value',
    sql: {
      postgres: "ALTER TYPE size_kind RENAME VALUE 'small' TO 'little'",
      mysql:
        "UPDATE {child} SET kind = 'large'; ALTER TABLE {child} MODIFY kind enum('little','large')",
    },
  },
  {
    name: 'a column in two',
    sql: {
      postgres:
        "ALTER TABLE {parent} ADD COLUMN first_name text; UPDATE {parent} SET first_name = split_part(name, ' ', 1); ALTER TABLE {parent} DROP COLUMN name",
      mysql:
        'ALTER TABLE {parent} ADD COLUMN first_name text; UPDATE {parent} SET first_name = name; ALTER TABLE {parent} DROP COLUMN name',
      sqlite:
        'ALTER TABLE {parent} ADD COLUMN first_name text; UPDATE {parent} SET first_name = name; ALTER TABLE {parent} DROP COLUMN name',
    },
  },
  {
    name: 'a table made again without a column',
    sql: {
      sqlite: rebuild(
        `${SERIAL}{mail} varchar(80) NOT NULL UNIQUE, name varchar(40)`,
        'id, {mail}, name',
      ),
    },
  },
  {
    name: 'a table made again with NOT NULL',
    sql: {
      sqlite: rebuild(
        `${SERIAL}{mail} varchar(80) NOT NULL UNIQUE, name varchar(40) NOT NULL DEFAULT '', age integer NOT NULL DEFAULT 0`,
        'id, {mail}, age',
      ),
    },
  },
  {
    name: 'a table made again with a check',
    sql: {
      sqlite: rebuild(
        `${SERIAL}{mail} varchar(80) NOT NULL UNIQUE, name varchar(40), age integer NOT NULL DEFAULT 0 CHECK (age > 0 OR age IS NULL OR id < 4)`,
        PARENT,
      ),
    },
  },
  {
    name: 'a mysql charset',
    sql: {
      mysql:
        "UPDATE {parent} SET name = 1; ALTER TABLE {parent} MODIFY name varchar(40) CHARACTER SET latin1 NOT NULL DEFAULT ''",
    },
  },
];

const ROWS = [
  all(
    'rows that are filled',
    'ALTER TABLE {child} ADD COLUMN cents integer; UPDATE {child} SET cents = {sum} * 100',
  ),
  all(
    'rows that are filled, where they have a value',
    "ALTER TABLE {parent} ADD COLUMN nick text; UPDATE {parent} SET nick = lower(name) WHERE name LIKE 'A%'",
  ),
  all('rows that are changed', "UPDATE {child} SET {state} = 'closed' WHERE {state} = 'paid'"),
  all('rows that are removed', "DELETE FROM tags WHERE word = 'red'"),
  {
    name: 'rows in a loop',
    sql: {
      postgres:
        'DO $$ DECLARE r record; BEGIN FOR r IN SELECT id FROM tags LOOP UPDATE tags SET word = upper(word) WHERE id = r.id; END LOOP; END $$',
    },
  },
  {
    name: 'the same type, other values',
    sql: { postgres: 'ALTER TABLE {parent} ALTER COLUMN name TYPE varchar(40) USING upper(name)' },
  },
  {
    name: 'a table made again without rows',
    sql: {
      postgres:
        'CREATE TABLE fresh (id bigserial PRIMARY KEY, word varchar(30) NOT NULL); DROP TABLE tags; ALTER TABLE fresh RENAME TO tags',
    },
  },
];

const OTHERS = [
  servers(
    'a wider integer',
    'ALTER TABLE {parent} ALTER COLUMN age TYPE bigint',
    'ALTER TABLE {parent} MODIFY age bigint NOT NULL DEFAULT 0',
  ),
  {
    name: 'one more enum value',
    sql: {
      postgres: "ALTER TYPE size_kind ADD VALUE 'huge'",
      mysql: "ALTER TABLE {child} MODIFY kind enum('small','large','huge')",
    },
  },
  servers(
    'a trigger',
    "CREATE FUNCTION bad() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$; CREATE TRIGGER bad BEFORE DELETE ON tags FOR EACH ROW EXECUTE FUNCTION bad()",
    "CREATE TRIGGER bad BEFORE DELETE ON tags FOR EACH ROW SIGNAL SQLSTATE '45000'",
  ),
  {
    name: 'a table made again as it was',
    sql: {
      sqlite: rebuild(
        `${SERIAL}{mail} varchar(80) NOT NULL UNIQUE, name varchar(40), age integer NOT NULL DEFAULT 0`,
        PARENT,
      ),
    },
  },
  {
    name: 'a table made again with a column',
    sql: {
      sqlite: rebuild(
        `${SERIAL}{mail} varchar(80) NOT NULL UNIQUE, name varchar(40), age integer NOT NULL DEFAULT 0, slug text`,
        PARENT,
      ),
    },
  },
  {
    name: 'NULL allowed',
    sql: {
      postgres: 'ALTER TABLE tags ALTER COLUMN word DROP NOT NULL',
      mysql: 'ALTER TABLE tags MODIFY word varchar(30)',
    },
  },
];

/** Migrations that look as if they only added something. They are `unknown`, and count in no share. */
const TRICKS = [
  {
    name: 'a sequence that begins again',
    sql: { postgres: 'ALTER SEQUENCE tags_id_seq RESTART' },
  },
  { name: 'a sequence that is set', sql: { postgres: "SELECT setval('tags_id_seq', 1)" } },
  {
    name: 'a table that hides another',
    sql: {
      postgres: 'CREATE SCHEMA app; CREATE TABLE app.tags (id bigserial PRIMARY KEY, word text)',
    },
  },
  {
    name: 'an event',
    sql: { mysql: 'CREATE EVENT gone ON SCHEDULE EVERY 1 HOUR DO DELETE FROM tags' },
  },
  { name: 'a versioned table', sql: { mysql: 'ALTER TABLE tags ADD SYSTEM VERSIONING' } },
  all(
    'rows that are filled and changed',
    "ALTER TABLE {parent} ADD COLUMN nick text; UPDATE {parent} SET nick = name, age = 3 WHERE name = 'Ann'",
  ),
  servers(
    'a new column that takes the place of another',
    'ALTER TABLE {child} ADD COLUMN b text; UPDATE {child} SET b = upper(note); ALTER TABLE {child} RENAME COLUMN note TO old_note; ALTER TABLE {child} RENAME COLUMN b TO note',
  ),
  servers(
    'a new column in place of one that is removed',
    'ALTER TABLE {child} ADD COLUMN b text; UPDATE {child} SET b = upper(note); ALTER TABLE {child} DROP COLUMN note; ALTER TABLE {child} RENAME COLUMN b TO note',
  ),
  servers(
    'a reference that is filled',
    'ALTER TABLE {child} ADD COLUMN payer bigint, ADD FOREIGN KEY (payer) REFERENCES {parent} (id); UPDATE {child} SET payer = 3 WHERE id = 1',
  ),
  {
    name: 'rows that are filled below a trigger',
    sql: {
      postgres:
        'CREATE FUNCTION louder() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.word = upper(NEW.word); RETURN NEW; END $$; CREATE TRIGGER louder BEFORE UPDATE ON tags FOR EACH ROW EXECUTE FUNCTION louder(); ALTER TABLE tags ADD COLUMN colour text; UPDATE tags SET colour = word; DROP TRIGGER louder ON tags; DROP FUNCTION louder()',
    },
  },
  {
    name: 'rows that are filled, of a table in parts',
    sql: {
      postgres:
        "CREATE FUNCTION loud() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.word = upper(NEW.word); RETURN NEW; END $$; CREATE TABLE more_tags () INHERITS (tags); INSERT INTO more_tags VALUES (7, 'green'); CREATE TRIGGER loud BEFORE UPDATE ON more_tags FOR EACH ROW EXECUTE FUNCTION loud(); ALTER TABLE tags ADD COLUMN colour text; UPDATE tags SET colour = word",
    },
  },
];
export const TRICK_NAMES: ReadonlySet<string> = new Set(TRICKS.map(({ name }) => name));

export const CORPUS: readonly SampleMigration[] = [
  ...EXPAND,
  ...CONTRACT,
  ...ROWS,
  ...OTHERS,
  ...TRICKS,
];

const WORDS: Readonly<Record<DatabaseKind, Readonly<Record<string, string>>>> = {
  postgres: {
    on_tags: '',
    stored: 'STORED',
    needed: "NOT NULL DEFAULT '-'; ALTER TABLE {parent} ALTER COLUMN vat DROP DEFAULT",
  },
  mysql: {
    on_tags: 'ON tags',
    stored: 'STORED',
    needed: "NOT NULL DEFAULT '-'; ALTER TABLE {parent} ALTER COLUMN vat DROP DEFAULT",
  },
  sqlite: { on_tags: '', stored: 'VIRTUAL', needed: "NOT NULL DEFAULT '-'" },
};

/** Its SQL for a database, without the words that differ. */
export function migrationFor({ sql }: SampleMigration, kind: DatabaseKind): string | undefined {
  return sql[kind]?.replace(
    /\{(on_tags|stored|needed)\}/g,
    (_, key: string) => WORDS[kind][key] ?? '',
  );
}
