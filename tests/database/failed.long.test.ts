/** Migrations that fail or are ended on a server: what they left there decides, and none runs twice at once. */
import { type ChildProcess, spawn } from 'node:child_process';
import { killApp } from '@runner/testing/app';
import { startMariadb, startPostgres, type TestDatabases } from '@runner/testing/databases';
import { run, start } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deployFile, makeWorld } from '../deploys/world.ts';
import { TOOL } from './tool.ts';

const test = suite('failed migrations of a server');

/** Each file in one transaction, as the tools do that note what they have done. */
const TRANSACTIONS = TOOL.replace('sql(readFileSync(', "sql('begin;' + readFileSync(")
  .replace("'utf8'));\n  sql(", `'utf8') + `)
  .replace(`file + "')");`, `file + "'); commit;");`);
/** A driver that does not read PGAPPNAME. */
const UNMARKED = `delete process.env.PGAPPNAME;\n${TOOL}`;
const SLEEP = { postgres: 'pg_sleep(25)', mysql: 'sleep(25)', sqlite: '' };

async function worldOn(databases: TestDatabases, name: string) {
  const world = await makeWorld();
  const { root } = world;
  databases.create(name);
  await run('runner-env', ['set', 'shop', 'DATABASE_URL', '--file', '-'], {
    root,
    stdin: databases.url(name),
  });
  const push = (version: string, migrations: Record<string, string>, more = '', tool = TOOL) =>
    world.push(version, {
      deploy: deployFile(world.port, `migrate: { run: node migrate.js${more} }\n`),
      files: {
        'migrate.js': tool,
        ...Object.fromEntries(
          Object.entries(migrations).map(([file, text]) => [`migrations/${file}.sql`, text]),
        ),
      },
    });
  const ship = async (...args: Parameters<typeof push>) => {
    await push(...args);
    return world.deploy();
  };
  const sql = (text: string) => databases.sql(name, text).stdout.trim();
  const close = () => {
    killApp(root, 'shop');
    return world.close();
  };
  return { world, push, ship, sql, close };
}

const ONE = {
  '1': 'create table orders(id int primary key, note varchar(20)); create table ledger(note varchar(20));',
};

async function checkFailed(databases: TestDatabases): Promise<void> {
  const { world, ship, sql, close } = await worldOn(databases, 'failed');
  const isMysql = databases.kind === 'mysql';
  try {
    await ship('v1', ONE);
    sql("insert into orders values (1, 'same'), (2, 'same')");
    const tool = isMysql ? TOOL : TRANSACTIONS;
    const text = 'alter table orders add column a int; create unique index twice on orders(note);';
    const failed = await ship('v2', { ...ONE, '2': text }, '', tool);
    assert.is(failed.status, 1);
    assert.match(failed.stderr, /ok +rehearse on a copy of the schema/);
    assert.not.match(failed.stderr, /does not work with/);
    // In MySQL the column is in.
    assert.is(world.events().at(-1)?.migration, isMysql ? 'additive' : undefined);
    const better = isMysql ? 'select 1;' : 'alter table orders add column a int;';
    const done = await ship('v3', { ...ONE, '2': better }, '', tool);
    assert.is(done.status, 0, done.stderr);
    const back = await run('runner-rollback', ['shop'], { root: world.root });
    assert.is(back.status, 0, back.stderr);
    assert.is(await world.page(), 'v1');
    const half = 'alter table orders add column half int; alter table orders drop column nothing;';
    const stopped = await ship('v4', { ...ONE, '2': better, '3': half });
    assert.match(
      stopped.stderr,
      /its rehearsal on a copy of the schema ended with status 1: it was not run on the database/,
    );
    assert.is(
      sql("select count(*) from information_schema.columns where column_name = 'half'"),
      '0',
    );
  } finally {
    await close();
  }
}

/** A session of which no one can tell whose it is: it has no port. */
function onSocket({ kind, url, sql }: TestDatabases, text: string): ChildProcess {
  const show = kind === 'mysql' ? 'select @@socket' : 'show unix_socket_directories';
  const place = sql(kind === 'mysql' ? 'mysql' : 'postgres', show).stdout.trim();
  const { port, password } = new URL(url('ended').replace(/^[^:]+/, 'http'));
  const args =
    kind === 'mysql'
      ? ['--no-defaults', `--socket=${place}`, '-uapp', 'ended', '-e', text]
      : ['-X', '-h', place, '-p', port, '-U', 'app', '-d', 'ended', '-c', text];
  const env = { ...process.env, MYSQL_PWD: decodeURIComponent(password) };
  return spawn(kind === 'mysql' ? 'mariadb' : 'psql', args, { env, stdio: 'ignore' });
}

/** A statement in flight outlives its client: neither `applied` nor another run may be asked meanwhile. */
async function checkEnded(databases: TestDatabases): Promise<void> {
  const { world, push, ship, sql, close } = await worldOn(databases, 'ended');
  const { root } = world;
  const { kind } = databases;
  const isMysql = kind === 'mysql';
  const slow = `insert into ledger select '7f3a' from (select ${SLEEP[kind]}) s;`;
  const activity = isMysql
    ? "select count(*) from information_schema.processlist where info like 'insert%sleep%'"
    : "select count(*) from pg_stat_activity where state = 'active' and query like 'insert%sleep%'";
  const ledger = () => sql('select count(*) from ledger');
  let busy: ChildProcess | undefined;
  const applied = ', rehearse: false, applied: exit 1';
  try {
    await ship('v1', ONE, ', rehearse: false');
    const late = await ship('v2', { ...ONE, '2': slow }, `${applied}, timeout: 3s`);
    assert.match(late.stderr, /ran out of time \(3 s\): `applied` says whether it is in/);
    assert.is(sql(activity), '0', 'it is ended at once');
    // The runner is killed: the next deploy ends it before it asks.
    await push('v3', { ...ONE, '2': slow }, applied, UNMARKED);
    const killed = start('runner-deploy', ['shop'], { root });
    await until(() => sql(activity) === '1', 'the statement does not begin');
    process.kill(killed.pid, 'SIGKILL');
    await killed.done;
    const again = await ship('v4', { ...ONE, '2': "insert into ledger values ('v4');" }, applied);
    assert.is(again.status, 0, again.stderr);
    assert.match(again.stderr, /ok +applied: exit 1/);
    assert.equal([sql(activity), ledger()], ['0', '1']);
    await world.push('v5', {
      deploy: deployFile(world.port, 'migrate: { run: kill -9 $$, rehearse: false }\n'),
    });
    assert.is((await world.deploy()).status, 1);
    busy = onSocket(databases, slow);
    await until(() => sql(activity) === '1', 'the session does not begin');
    const refused = await world.deploy(['--migrated', 'no']);
    assert.is(refused.status, 1);
    assert.match(
      refused.stderr,
      isMysql
        ? /was .+; the server still executes `insert into ledger select '…' from .+`, perhaps of this migration: wait for its end, or end it: KILL \d+/
        : /was .+; the server still executes `insert into ledger select '…' from .+`, perhaps of this migration: wait for its end, or end it: SELECT pg_terminate_backend\(\d+\)/,
    );
  } finally {
    busy?.kill();
    await close();
  }
}

test('MariaDB: what fails before it connects to the copy, or goes elsewhere, is found in the rehearsal', async () => {
  const databases = await startMariadb();
  if (!databases) return;
  const { ship, sql, close } = await worldOn(databases, 'elsewhere');
  try {
    await ship('v1', ONE);
    const early = await ship('v2', ONE, ', backup: auto', 'process.exit(3);\n');
    assert.is(early.status, 1);
    assert.match(early.stderr, /ended with status 3: it was not run on the database/);
    assert.not.match(early.stderr, /back up the database|may have changed/);
    const own = `process.env.DATABASE_URL = ${JSON.stringify(databases.url('elsewhere'))};\n`;
    const more = { ...ONE, '2': 'alter table orders drop column note;' };
    const elsewhere = await ship('v3', more, ', backup: auto', own + TOOL);
    assert.is(elsewhere.status, 1);
    assert.match(elsewhere.stderr, /migrate: the command does not use DATABASE_URL: its rehearsal/);
    assert.not.match(elsewhere.stderr, /back up the database/);
    assert.is(sql("show columns from orders like 'note'"), '');
  } finally {
    await close();
    databases.close();
  }
});

for (const [name, open] of [
  ['PostgreSQL', startPostgres],
  ['MariaDB', startMariadb],
] as const)
  test(`${name}: a migration that failed counts as what it left, and not at all on a copy alone`, async () => {
    const databases = await open();
    try {
      if (databases) await checkFailed(databases);
    } finally {
      databases?.close();
    }
  });

for (const [name, open] of [
  ['PostgreSQL', startPostgres],
  ['MariaDB', startMariadb],
] as const)
  test(`${name}: what it still executes of a migration that was ended is ended before anything else`, async () => {
    const databases = await open();
    try {
      if (databases) await checkEnded(databases);
    } finally {
      databases?.close();
    }
  });

test.run();
