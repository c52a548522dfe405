/** Migrations that break a statement of the old version, and hardly look like it. */
import { databaseAddress } from '@runner/deploy/database/address';
import { readCatalogue } from '@runner/deploy/database/catalogue';
import { rehearseSchema } from '@runner/deploy/database/rehearse';
import { runTool } from '@runner/deploy/database/tools';
import {
  sqliteFolder,
  startMariadb,
  startPostgres,
  type TestDatabases,
} from '@runner/testing/databases';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SUBTLE, type SubtleMigration } from './subtle.ts';

const test = suite('verdicts on migrations that are hard to see through');
const CLIENT = {
  postgres: ['-X', '-q', '-w', '-o', '/dev/null', '-v', 'ON_ERROR_STOP=1', '-f', '-'],
  mysql: ['--default-character-set=utf8mb4', '--batch', '--comments'],
  sqlite: ['-batch', '-init', '/dev/null', '-bail'],
};
const NOTES = 'CREATE TABLE schema_migrations (version varchar(9));\n';

async function runOn(url: string, text: string): Promise<string> {
  const address = databaseAddress(url, '/');
  try {
    return await runTool(address, 'client', { args: CLIENT[address.kind], input: `${text};\n` });
  } catch (error) {
    return String(error);
  }
}

/** The verdict, and what the old statement answers before and after. */
async function judged(databases: TestDatabases, each: SubtleMigration, name: string) {
  const url = databases.url(name);
  databases.create(name);
  try {
    const made = await runOn(url, NOTES + each.setup);
    assert.not.match(made, /Failure/, made);
    const answer = () => {
      const begin = databases.kind === 'postgres' ? 'SET ROLE app; BEGIN' : 'BEGIN';
      const { status, stdout, stderr } = databases.sql(name, `${begin};\n${each.old};\nROLLBACK;`);
      return status === 0 && !/ERROR/.test(stderr) ? stdout : 'ERROR';
    };
    const found = await rehearseSchema({
      address: databaseAddress(url, '/'),
      temporary: temporaryFolder('scratch'),
      signal: new AbortController().signal,
      run: async (copy) => {
        const words = await runOn(copy, each.migration);
        return { ok: !/Failure/.test(words), words };
      },
    });
    const before = answer();
    assert.is.not(before, 'ERROR', each.old);
    const done = await runOn(url, each.migration);
    assert.not.match(done, /Failure/, `${each.migration}: ${done}`);
    return { ...found, before, after: answer() };
  } finally {
    databases.remove(name);
  }
}

for (const [kind, start] of [
  ['postgres', startPostgres],
  ['mysql', startMariadb],
  ['sqlite', sqliteFolder],
] as const)
  test(`a migration of ${kind} that breaks a statement in a way hard to see is not called additive`, async () => {
    const databases = await start();
    if (!databases) return;
    try {
      for (const [at, each] of SUBTLE.filter((one) => one.kind === kind).entries()) {
        const found = await judged(databases, each, `subtle_${at}`);
        assert.is.not(found.after, found.before, `${each.migration}: the truth`);
        assert.is.not(found.verdict, 'additive', each.migration);
        assert.is(found.skipped, undefined, each.migration);
        assert.is(found.hasFailed, undefined, `${each.migration}: ${found.reasons}`);
      }
    } finally {
      databases.close();
    }
  });

test('a copy has the settings of its database, and a right that is granted only adds', async () => {
  const databases = await startPostgres();
  if (!databases) return;
  const setup = `CREATE SCHEMA own; CREATE TABLE own.things (id integer);
    DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = own, public', current_database()); END $$`;
  const migration = 'ALTER TABLE things ADD COLUMN word text; GRANT SELECT ON things TO poor';
  try {
    const old = 'SELECT id FROM own.things';
    const found = await judged(databases, { kind: 'postgres', setup, migration, old }, 'paths');
    assert.equal([found.verdict, found.reasons, found.hasFailed], ['additive', [], undefined]);
    assert.is(found.after, found.before);
  } finally {
    databases.close();
  }
});

const EVERYDAY: readonly SubtleMigration[] = [
  {
    kind: 'postgres',
    setup:
      'CREATE TABLE t (id integer); INSERT INTO t VALUES (1); CREATE MATERIALIZED VIEW "all of t" AS SELECT id FROM t; CREATE MATERIALIZED VIEW "A" AS SELECT id FROM "all of t"',
    migration:
      'ALTER TABLE t ADD COLUMN word text; REFRESH MATERIALIZED VIEW "all of t"; REFRESH MATERIALIZED VIEW "A"',
    old: 'SELECT id FROM "A"',
  },
  {
    kind: 'mysql',
    setup:
      'CREATE TABLE t (id integer, status integer, name integer); INSERT INTO t VALUES (1, 1, 1);',
    migration: `ALTER TABLE t ADD COLUMN a integer COMMENT 'the last change status', ADD COLUMN b integer COMMENT "drop name, it's wrong"; ALTER TABLE t ADD COLUMN c integer COMMENT 'to rename things'; ANALYZE TABLE t`,
    old: 'SELECT id, status, name FROM t',
  },
  {
    kind: 'sqlite',
    setup:
      "CREATE TABLE t (id integer primary key autoincrement, word text collate nocase, big text as (upper(word))); INSERT INTO t (word) VALUES ('a');",
    migration:
      'CREATE TABLE new_t ("id" integer PRIMARY KEY AUTOINCREMENT, "word" text COLLATE "NOCASE", "big" text as (upper(word)), "more" text); INSERT INTO new_t (id, word) SELECT id, word FROM t; DROP TABLE t; ALTER TABLE new_t RENAME TO t',
    old: "SELECT id, word, big FROM t WHERE word = 'A'",
  },
];
for (const [kind, start] of [
  ['postgres', startPostgres],
  ['mysql', startMariadb],
  ['sqlite', sqliteFolder],
] as const)
  test(`an everyday migration of ${kind} that hurts no one is additive`, async () => {
    const databases = await start();
    if (!databases) return;
    try {
      for (const each of EVERYDAY.filter((one) => one.kind === kind)) {
        const found = await judged(databases, each, 'everyday');
        assert.is(found.after, found.before, each.migration);
        assert.equal([found.verdict, found.reasons], ['additive', []], each.migration);
      }
    } finally {
      databases.close();
    }
  });

test('a schema of hundreds of routines is read in seconds', async () => {
  const databases = await startMariadb();
  if (!databases) return;
  try {
    databases.create('routines');
    const each = (at: number) =>
      `CREATE FUNCTION f${at}(a int, b int) RETURNS int DETERMINISTIC RETURN a;`;
    databases.sql('routines', Array.from({ length: 600 }, (_, at) => each(at)).join('\n'));
    const began = performance.now();
    const found = await readCatalogue(databaseAddress(databases.url('routines'), '/'));
    assert.is(found.entries.length, 600);
    assert.ok(performance.now() - began < 4_000, `${performance.now() - began} ms`);
  } finally {
    databases.close();
  }
});

test.run();
