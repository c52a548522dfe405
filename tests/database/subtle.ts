/** Migrations that look as if they only add, and a statement of the old version that they break. */

export interface SubtleMigration {
  readonly kind: 'postgres' | 'mysql' | 'sqlite';
  readonly setup: string;
  readonly migration: string;
  /** Answered otherwise, or not at all, after the migration. */
  readonly old: string;
}

const of =
  (kind: SubtleMigration['kind']) =>
  ([setup, migration, old]: readonly [string, string, string]): SubtleMigration => ({
    kind,
    setup,
    migration,
    old,
  });

const USERS =
  "CREATE TABLE users (id integer PRIMARY KEY, email varchar(80), name varchar(40)); INSERT INTO users VALUES (1, 'ann@x', 'Ann');";
const SEQUENCE = 'CREATE SEQUENCE nr; ';
const TWICE =
  'CREATE FUNCTION twice(n integer) RETURNS integer LANGUAGE sql AS $$ SELECT n * 2 $$;';
const VIEW = `${USERS} CREATE VIEW rich AS SELECT id, email FROM users WHERE id < 10`;
const DOMAIN =
  "CREATE DOMAIN mail AS text DEFAULT '-'; CREATE TABLE m (id integer, a mail NOT NULL);";
const LOGS =
  'CREATE TABLE logs (id integer, day integer) PARTITION BY RANGE (day); CREATE TABLE logs_1 PARTITION OF logs FOR VALUES FROM (1) TO (9); INSERT INTO logs VALUES (1, 5);';
const NAMES = 'CREATE TABLE odd (id integer, "größe" integer, "unit price" integer, price integer)';

const POSTGRES = (
  [
    [
      VIEW,
      "ALTER VIEW rich SET (check_option = 'cascaded')",
      "INSERT INTO rich VALUES (11, 'bob@x')",
    ],
    [VIEW, 'REVOKE SELECT ON rich FROM app', 'SELECT * FROM rich'],
    [
      VIEW,
      'DROP VIEW rich; CREATE MATERIALIZED VIEW rich AS SELECT id, email FROM users WHERE id < 10',
      "INSERT INTO rich VALUES (2, '')",
    ],
    [SEQUENCE, 'REVOKE ALL ON SEQUENCE nr FROM app', "SELECT nextval('nr')"],
    [SEQUENCE, 'ALTER SEQUENCE nr MAXVALUE 3', "SELECT nextval('nr'), nextval('nr')"],
    [TWICE, 'REVOKE ALL ON FUNCTION twice(integer) FROM PUBLIC, app', 'SELECT twice(1)'],
    [
      TWICE,
      'CREATE FUNCTION twice(n integer, m integer DEFAULT 2) RETURNS integer LANGUAGE sql AS $$ SELECT n * m $$',
      'SELECT twice(1)',
    ],
    [
      'CREATE SCHEMA shop; CREATE TABLE shop.t (id integer)',
      'REVOKE ALL ON SCHEMA shop FROM app',
      'SELECT * FROM shop.t',
    ],
    [DOMAIN, 'ALTER DOMAIN mail DROP DEFAULT', 'INSERT INTO m (id) VALUES (1)'],
    [
      'CREATE TYPE addr AS (street text); CREATE TABLE m (a addr)',
      'ALTER TYPE addr ADD ATTRIBUTE zip text',
      "INSERT INTO m VALUES (ROW('x')::addr)",
    ],
    [LOGS, 'ALTER TABLE logs DETACH PARTITION logs_1', 'SELECT * FROM logs'],
    [
      'CREATE TABLE base (id integer); CREATE TABLE kid (id integer); INSERT INTO kid VALUES (1)',
      'ALTER TABLE kid INHERIT base',
      'SELECT * FROM base',
    ],
    [
      `${TWICE} CREATE OPERATOR ~~~ (RIGHTARG = integer, FUNCTION = twice)`,
      'DROP OPERATOR ~~~ (NONE, integer)',
      'SELECT ~~~ 1',
    ],
    [
      USERS,
      "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$",
      "INSERT INTO users VALUES (2, '', '')",
    ],
    [
      'CREATE TABLE sw (a integer, b integer); INSERT INTO sw VALUES (1, 2)',
      'ALTER TABLE sw RENAME a TO t; ALTER TABLE sw RENAME b TO a; ALTER TABLE sw RENAME t TO b',
      'SELECT a, b FROM sw',
    ],
    [
      NAMES,
      'ALTER TABLE odd ADD CHECK ("unit price" > 0)',
      'INSERT INTO odd ("unit price") VALUES (0)',
    ],
    [NAMES, 'ALTER TABLE odd ADD CHECK ("größe" > 0)', 'INSERT INTO odd ("größe") VALUES (0)'],
    [
      'CREATE TABLE odd (id integer, "unit price" integer)',
      'ALTER TABLE odd ADD COLUMN price integer; CREATE UNIQUE INDEX one ON odd ("unit price")',
      'INSERT INTO odd ("unit price") VALUES (1), (1)',
    ],
    [
      USERS,
      "ALTER TABLE users ADD COLUMN vat text DEFAULT '-'; ALTER TABLE users ALTER vat DROP DEFAULT, ADD CHECK (vat IS NOT NULL)",
      "INSERT INTO users VALUES (2, '', '')",
    ],
    [
      USERS,
      'ALTER TABLE users ADD COLUMN low text GENERATED ALWAYS AS (lower(email)) STORED UNIQUE',
      "INSERT INTO users VALUES (2, 'ANN@x', '')",
    ],
    [
      USERS,
      "ALTER TABLE users ADD COLUMN slug text NOT NULL DEFAULT '(none)' UNIQUE",
      "INSERT INTO users VALUES (2, '', '')",
    ],
  ] as const
).map(of('postgres'));

const PROCEDURE = 'CREATE PROCEDURE own() SELECT 1';
const PARTS =
  'CREATE TABLE logs (id integer, day integer) PARTITION BY RANGE (day) (PARTITION p1 VALUES LESS THAN (9), PARTITION p2 VALUES LESS THAN (19)); INSERT INTO logs VALUES (1, 5), (2, 15)';
const TAGS = "CREATE TABLE tags (id integer, word varchar(9)); INSERT INTO tags VALUES (1, 'a')";
const SUM =
  'CREATE TABLE g (a integer, twice integer AS (a * 2) STORED); INSERT INTO g (a) VALUES (1)';

const MYSQL = (
  [
    [
      VIEW,
      'CREATE OR REPLACE VIEW rich AS SELECT id, email FROM users WHERE id < 10 WITH CHECK OPTION',
      "INSERT INTO rich VALUES (11, 'bob@x')",
    ],
    [SUM, 'ALTER TABLE g MODIFY twice integer AS (a * 3) STORED', 'SELECT twice FROM g'],
    [
      'CREATE TABLE ft (body varchar(99), FULLTEXT KEY words (body))',
      'ALTER TABLE ft DROP INDEX words, ADD INDEX words (body)',
      "SELECT * FROM ft WHERE MATCH (body) AGAINST ('a')",
    ],
    [PARTS, 'ALTER TABLE logs DROP PARTITION p2', 'SELECT * FROM logs'],
    [PARTS, 'ALTER TABLE logs TRUNCATE PARTITION p1', 'SELECT * FROM logs'],
    [
      'CREATE SEQUENCE nr; SELECT NEXTVAL(nr); CREATE TABLE k (id integer PRIMARY KEY); INSERT INTO k VALUES (1)',
      'ALTER SEQUENCE nr RESTART 1',
      'INSERT INTO k VALUES (NEXTVAL(nr))',
    ],
    [PROCEDURE, 'DROP PROCEDURE own; CREATE PROCEDURE own() SELECT 2', 'CALL own()'],
    [PROCEDURE, 'DROP PROCEDURE own; CREATE PROCEDURE own(IN a integer) SELECT 1', 'CALL own()'],
    [
      USERS,
      "CREATE PROCEDURE own() UPDATE users SET name = 'x'; CALL own(); DROP PROCEDURE own",
      'SELECT name FROM users',
    ],
    [
      USERS,
      "SET @q = 'UPDATE users SET name = 1'; PREPARE s FROM @q; EXECUTE s",
      'SELECT name FROM users',
    ],
    [
      USERS,
      "CREATE TABLE notes (word varchar(9)); INSERT INTO notes VALUES ('no #1'); UPDATE users SET name = 'x'",
      'SELECT name FROM users',
    ],
    [
      'CREATE TABLE `user list` (name varchar(9)); INSERT INTO `user list` VALUES (1)',
      'UPDATE `user list` SET name = 2',
      'SELECT * FROM `user list`',
    ],
    [
      TAGS,
      'CREATE TABLE fresh LIKE tags; DROP TABLE tags; RENAME TABLE fresh TO tags',
      'SELECT * FROM tags',
    ],
    [TAGS, 'CREATE OR REPLACE TABLE tags (id integer, word varchar(9))', 'SELECT * FROM tags'],
    [
      TAGS,
      'ALTER TABLE tags DROP COLUMN word; ALTER TABLE tags ADD COLUMN word varchar(9)',
      'SELECT word FROM tags',
    ],
    [
      'CREATE TABLE sw (a integer, b integer); INSERT INTO sw VALUES (1, 2)',
      'ALTER TABLE sw CHANGE a b integer, CHANGE b a integer',
      'SELECT a, b FROM sw',
    ],
    [
      NAMES.replaceAll('"', '`'),
      'ALTER TABLE odd ADD CHECK (`unit price` > 0)',
      'INSERT INTO odd (`unit price`) VALUES (0)',
    ],
  ] as const
).map(of('mysql'));

const REMADE = (columns: string) =>
  `CREATE TABLE fresh (${columns}); INSERT INTO fresh SELECT * FROM old; DROP TABLE old; ALTER TABLE fresh RENAME TO old`;

const SQLITE = (
  [
    [
      `${USERS} CREATE UNIQUE INDEX one ON users (email)`,
      'DROP INDEX one; CREATE UNIQUE INDEX one ON users (email COLLATE NOCASE)',
      "INSERT INTO users VALUES (2, 'ANN@x', '')",
    ],
    [
      `${USERS} CREATE UNIQUE INDEX one ON users (lower(email))`,
      'DROP INDEX one; CREATE UNIQUE INDEX one ON users (substr(email, 1, 1))',
      "INSERT INTO users VALUES (2, 'a', '')",
    ],
    [
      'CREATE TABLE old (a integer, b integer AS (a * 2))',
      'DROP TABLE old; CREATE TABLE old (a integer, b integer AS (a * 3))',
      'INSERT INTO old (a) VALUES (1); SELECT b FROM old',
    ],
    [
      'CREATE TABLE p (id integer PRIMARY KEY); CREATE TABLE old (p integer REFERENCES p (id) DEFERRABLE INITIALLY DEFERRED)',
      REMADE('p integer REFERENCES p (id)'),
      'INSERT INTO old VALUES (1); INSERT INTO p VALUES (1)',
    ],
    [
      "CREATE TABLE old (a text COLLATE NOCASE, b text); INSERT INTO old VALUES ('A', 'B')",
      REMADE('a text, b text COLLATE NOCASE'),
      "SELECT * FROM old WHERE a = 'a'",
    ],
    [
      'CREATE TABLE old ("unit price" integer)',
      REMADE('"unit price" integer CHECK ("unit price" > 0)'),
      'INSERT INTO old VALUES (0)',
    ],
    [
      'CREATE TABLE old (a integer)',
      REMADE('a integer CHECK (1 = 0)'),
      'INSERT INTO old VALUES (1)',
    ],
  ] as const
).map(of('sqlite'));

export const SUBTLE: readonly SubtleMigration[] = [...POSTGRES, ...MYSQL, ...SQLITE];
