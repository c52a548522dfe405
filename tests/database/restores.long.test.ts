/**
 * The printed line brings version and database back, byte for byte, and can be undone; kills at any moment
 * leave the one or the other. RESTORES=n changes how many there are of each database.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { killApp } from '@runner/testing/app';
import {
  sqliteFolder,
  startMariadb,
  startPostgres,
  type TestDatabases,
} from '@runner/testing/databases';
import { IS_WHOLE } from '@runner/testing/extent';
import { randomOf } from '@runner/testing/random';
import { distFolder, run, shell, start } from '@runner/testing/run';
import { findBytes } from '@runner/testing/secret-search';
import { request } from '@runner/testing/traffic-proxy';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deployFile, makeWorld } from '../deploys/world.ts';
import { makeTrafficWorld } from '../traffic/world.ts';
import { TOOL } from './tool.ts';

const test = suite('restores');
const ROUNDS = Number(process.env.RESTORES ?? (IS_WHOLE ? 67 : 3));
const MARK = 'a-customer-7c1b9e';

const ONE = {
  postgres: `create table orders(id serial primary key, note text, total int not null default 1);
    create type mood as enum ('good', 'bad'); create view all_orders as select * from orders;
    create function double(a int) returns int language sql as 'select a * 2'; create schema more; create table more.logs(line text);
    insert into more.logs select string_agg(md5(random()::text), '') from generate_series(1, 60000);
    create collation german (provider = icu, locale = 'de-DE'); create text search configuration french_app (copy = french);
    create text search dictionary plain_app (template = simple); create domain mail as text check (value like '%@%');
    create aggregate total_of(int) (sfunc = int4pl, stype = int); create operator === (leftarg = int, rightarg = int, function = int4eq);
    create cast (mood as int) with inout; create publication all_of_it for table orders; create rule no_delete as on delete to more.logs do instead nothing;
    create statistics some_of on id, total from orders; create type pair as (a int, b int); create procedure nothing_much() language sql as 'select 1';
    alter default privileges in schema more grant select on tables to public; create materialized view counted as select count(*) from orders;
    create sequence alone; select lo_from_bytea(0, 'large');
    alter default privileges grant select on tables to public; alter default privileges revoke execute on routines from public;`,
  mysql: `create table orders(id int primary key auto_increment, note varchar(80), total int not null default 1);
    create view all_orders as select * from orders; create trigger positive before insert on orders for each row set new.total = abs(new.total);
    create table \`odd "name" größe\`(\`a b\` int, \`c-d\` varchar(20) character set utf8mb3 collate utf8mb3_czech_ci, g int as (\`a b\` * 2) stored, v int as (\`a b\` + 1), hid int invisible default 3, bin varbinary(20), bits bit(5), js json, en enum('x''y','z'), key k (\`c-d\`), fulltext key ft (\`c-d\`));
    insert into \`odd "name" größe\`(\`a b\`, \`c-d\`, hid, bin, bits, js, en) values (1, 'ž', 9, x'00ff0a275c', b'101', '{"a":1}', 'x''y');
    set sql_mode=''; create table zero(d date not null default '0000-00-00', t timestamp not null default '0000-00-00 00:00:00'); insert into zero values ('0000-00-00','0000-00-00 00:00:00');
    create sequence nr start with 5; select nextval(nr);
    create table kid(id int primary key, o int, foreign key (o) references orders(id) on delete cascade);
    create table apart(id int, day int) partition by range (day) (partition p1 values less than (10), partition p2 values less than maxvalue);
    create table hist(id int primary key, w int) with system versioning; insert into hist values (1, 1); update hist set w = 2;
    create event tick on schedule every 1 day do delete from orders where id < 0;
    create procedure p(in a int) select a + 1; create function f(a int) returns int deterministic return a;
    set sql_mode='ANSI_QUOTES'; create procedure q() select "id" from "orders"; create view zzz as select 1 as x; create view aaa as select * from zzz;`,
  sqlite: `create table orders(id integer primary key, note text, total int not null default 1);
    create view all_orders as select * from orders; pragma user_version = 7;`,
};
/** What the owner of the server does: it refuses something that a backup has near its end. */
const REFUSING = `create function no() returns event_trigger language plpgsql as 'begin raise exception ''not now''; end';
  create event trigger no on ddl_command_start when tag in ('CREATE PUBLICATION') execute function no();`;
const BREAKING = [
  'alter table orders add column paid varchar(5); drop view all_orders;',
  'drop view all_orders; alter table orders rename to purchases;',
  'delete from orders where id > 1; create table extra(a int); insert into extra values (1); drop view all_orders;',
];

async function check(databases: TestDatabases): Promise<number> {
  const world = await makeWorld();
  const { root } = world;
  const random = randomOf(7);
  const url = databases.url('shop');
  databases.create('shop');
  const dump = () => dumpOf(databases, url);
  const ship = async (version: string, migrations: readonly string[]) => {
    const files = migrations.map((text, at) => [`migrations/${100 + at}.sql`, text]);
    const deploy = deployFile(world.port, 'migrate: { run: node migrate.js, backup: auto }\n');
    await world.push(version, {
      deploy,
      files: { 'migrate.js': TOOL, ...Object.fromEntries(files) },
    });
    return world.deploy();
  };
  const line = async (words: string) => {
    const env = { PATH: `${distFolder()}/bin:${process.env.PATH}` };
    return shell(words, { root, env });
  };
  try {
    const set = await run('runner-env', ['set', 'shop', 'DATABASE_URL', '--file', '-'], {
      root,
      stdin: url,
    });
    assert.is(set.status, 0, set.stderr);
    const one = [ONE[databases.kind]];
    assert.is((await ship('v1', one)).status, 0);
    for (let round = 0; round < ROUNDS; round += 1) {
      const rows = Math.floor(random() * 50) + 1;
      for (let row = 0; row < rows; row += 1)
        databases.sql(
          'shop',
          `insert into orders(note, total) values ('${MARK} \u00e4 ${random()}', ${row});`,
        );
      const before = dump();
      const version = `v${round + 2}`;
      const done = await ship(version, [...one, `${BREAKING[round % 3]}\n-- ${round}`]);
      assert.is(done.status, 0, done.stderr);
      assert.match(done.stderr, /a backup of the database: [\d.]+ [KM]iB, about \d+\.\d s/);
      const after = dump();
      assert.is.not(after, before);
      const refused = await run('runner-rollback', ['shop'], { root });
      assert.is(refused.status, 1);
      const [, way = ''] =
        /to restore what was before: (runner rollback [^;]+);/.exec(refused.stderr) ?? [];
      assert.is.not(way, '', refused.stderr);
      assert.is(world.events().at(-1)?.migration_restore, way);
      if (round % 3 === 2) {
        // A kill at any moment leaves both as they were, or both as they are to be.
        const [tool = '', ...args] = way.split(' ').slice(1);
        const killed = start(`runner-${tool}`, args, { root });
        await sleep(random() * 1_500);
        killed.kill('SIGKILL');
        await killed.done;
        const next = await run('runner-restart', ['shop'], { root });
        assert.is(next.status, 0, next.stderr);
        const page = await world.page();
        assert.is(dump(), page === 'v1' ? before : after, `${page} after a kill: ${next.stderr}`);
      }
      if (databases.kind === 'postgres' && round === 0) {
        // A long report keeps its table from being dropped: the version that left serves again.
        const report = readLong(url);
        await once(report.stdout, 'data');
        const failed = await line(way);
        report.stdin.end();
        assert.is(failed.status, 1, failed.stderr);
        assert.match(failed.stderr, /the database could not be restored: .*lock timeout/);
        assert.equal([await world.page(), dump(), world.state().migrating], [version, after, null]);
        // So does what fails after the large objects, whose end pg_restore commits by default.
        databases.sql('shop', REFUSING);
        const refusing = await line(way);
        databases.sql('shop', 'drop event trigger no; drop function no;');
        assert.match(refusing.stderr, /the database could not be restored: .*not now/);
        assert.equal([await world.page(), dump(), world.state().migrating], [version, after, null]);
      }
      const back = await line(way);
      assert.is(back.status, 0, back.stderr);
      assert.is(await world.page(), 'v1');
      assert.is(dump(), before);
      assert.match(back.stdout, /Rolled back shop|Started v1 of shop again/);
      if (round % 3 === 1) {
        const rekeyed = await run('runner-tokens', ['rekey'], { root });
        assert.is(rekeyed.status, 0, rekeyed.stderr);
        const [, undo = ''] = /to undo this: (runner rollback .+)/.exec(back.stdout) ?? [];
        const forward = await line(undo);
        assert.is(forward.status, 0, forward.stderr);
        assert.is(await world.page(), version);
        assert.is(dump(), after);
        const again = await line(way);
        assert.is(again.status, 0, again.stderr);
        assert.is(dump(), before);
      }
      assert.is(world.state().migrating ?? null, null);
    }
    const folder = join(root, 'apps/shop/database');
    assert.ok(existsSync(folder));
    assert.equal(
      readdirSync(folder).filter((name) => !name.endsWith('.age')),
      [],
    );
    assert.equal(findBytes(root, MARK), []);
    assert.is((await run('runner-audit', ['verify'], { root })).status, 0);
    return ROUNDS;
  } finally {
    killApp(root, 'shop');
    await world.close();
  }
}

/** A session of PostgreSQL that reads a table, until its stdin ends. */
function readLong(url: string) {
  const { hostname, port, username, password } = new URL(url);
  const args = ['-X', '-q', '-h', hostname, '-p', port, '-U', username, 'shop'];
  const env = { PATH: process.env.PATH, PGPASSWORD: decodeURIComponent(password) };
  const report = spawn('psql', args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  report.stdin.write('begin; select * from more.logs limit 0; select 1;\n');
  return report;
}

/** What the database's own tool says of all that is in it. */
function dumpOf(databases: TestDatabases, url: string): string {
  const { hostname, port, username, password } = new URL(url.replace('mysql+pymysql', 'mysql'));
  const secret = decodeURIComponent(password);
  const { execFileSync } = process.getBuiltinModule('node:child_process');
  const [file, ...args] = {
    postgres: ['pg_dump', '-h', hostname, '-p', port, '-U', username, 'shop'],
    mysql: [
      ...[
        'mariadb-dump',
        '--no-defaults',
        '--protocol=tcp',
        '-h',
        hostname,
        '-P',
        port,
        '-u',
        username,
      ],
      ...['--skip-dump-date', '--dump-history', '--routines', '--triggers', '--events', 'shop'],
    ],
    sqlite: ['sqlite3', new URL(url).pathname, '.dump', 'pragma user_version'],
  }[databases.kind] as [string, ...string[]];
  const env = { PATH: process.env.PATH, PGPASSWORD: secret, MYSQL_PWD: secret };
  const text = execFileSync(file, args, { env, encoding: 'utf8', maxBuffer: 1 << 28 });
  return text.replace(/^\\(?:un)?restrict .*$/gm, '');
}

test('with traffic, and of a stopped app, version and database come back together', async () => {
  const databases = sqliteFolder();
  if (!databases) return;
  const world = await makeTrafficWorld();
  const { root } = world;
  const more = (command: string) =>
    `traffic: { type: socket, drain: 2s }\nmigrate: { run: '${command}', backup: auto }\n`;
  const sqlite = (words: string) => `sqlite3 "\${DATABASE_URL#file:}" "${words}"`;
  const columns = () =>
    databases
      .sql('shop', "select group_concat(name) from pragma_table_info('orders')")
      .stdout.trim();
  const version = async () => (await request(world.proxy.port)).version;
  try {
    databases.create('shop');
    databases.sql(
      'shop',
      'create table orders(id int, note text); insert into orders values (1, null);',
    );
    const url = databases.url('shop');
    await run('runner-env', ['set', 'shop', 'DATABASE_URL', '--file', '-'], { root, stdin: url });
    assert.is((await world.ship('v1', 'good', more('true'))).status, 0);
    const done = await world.ship(
      'v2',
      'good',
      more(sqlite('alter table orders drop column note')),
    );
    assert.is(done.status, 0, done.stderr);
    assert.equal([columns(), await version()], ['id', 'v2']);
    const [{ deploy_id: id } = { deploy_id: '' }] = world.state().database_backups as {
      deploy_id: string;
    }[];
    const releases = join(root, 'apps/shop/releases');
    const [old = ''] = readdirSync(releases).sort();
    const manner = join(releases, old, 'MANNER');
    writeFileSync(manner, 'crashing');
    const failed = await world.runner('rollback', 'shop', '--to', 'v1', '--database', id);
    assert.match(failed.stdout, /v2 is active as before/, failed.stderr);
    assert.equal([columns(), await version()], ['id', 'v2']);
    writeFileSync(manner, 'good');
    const back = await world.runner('rollback', 'shop', '--to', 'v1', '--database', id);
    assert.is(back.status, 0, back.stderr);
    assert.equal([columns(), await version()], ['id,note', 'v1']);
    assert.is((await world.runner('stop', 'shop')).status, 0);
    const undo = /--database ([0-9a-f]{8})\n$/.exec(back.stdout)?.[1] ?? '';
    const forward = await world.runner('rollback', 'shop', '--to', 'v2', '--database', undo);
    assert.is(forward.status, 0, forward.stderr);
    assert.equal([columns(), await version()], ['id', 'v2']);
    const again = await world.ship(
      'v3',
      'good',
      more(sqlite('alter table orders add column paid text')),
    );
    assert.is(again.status, 0, again.stderr);
    assert.is(world.events().at(-1)?.migration, 'additive');
    assert.is((await world.runner('rollback', 'shop')).status, 0);
    assert.is(await version(), 'v2');
    const before = world.live();
    const killed = start('runner-rollback', ['shop', '--to', 'v1', '--database', id], { root });
    for (const since = Date.now(); world.live() === before && Date.now() - since < 30_000; )
      await sleep(1);
    process.kill(killed.pid, 'SIGKILL');
    await killed.done;
    await world.runner('fetch', 'shop', '--deploy');
    const { event, database_backup: noted } = world.events().at(-1) ?? {};
    assert.equal([event, noted], ['RollbackSuccess', id]);
    assert.equal([columns(), await version()], ['id,note', 'v1']);
  } finally {
    killApp(root, 'shop');
    await world.close();
  }
});

test('MySQL: a user who could not make again what another has made drops nothing', async () => {
  const databases = await startMariadb();
  if (!databases) return;
  const world = await makeWorld();
  const { root } = world;
  const ship = async (version: string, migrations: Record<string, string>) => {
    const deploy = deployFile(
      world.port,
      'migrate: { run: node migrate.js, rehearse: false, backup: auto }\n',
    );
    await world.launch(version, { deploy, files: { 'migrate.js': TOOL, ...migrations } });
  };
  try {
    databases.create('shop');
    const secret = "IDENTIFIED BY 'x'";
    databases.sql(
      'mysql',
      `CREATE USER few@'%' ${secret}; GRANT ALL ON shop.* TO few@'%'; CREATE USER dba@'%' ${secret};`,
    );
    const stdin = databases.url('shop').replace(/app:[^@]*/, 'few:x');
    await run('runner-env', ['set', 'shop', 'DATABASE_URL', '--file', '-'], { root, stdin });
    const one = { 'migrations/1.sql': 'create table orders(id int, note text);' };
    await ship('v1', one);
    databases.sql(
      'shop',
      "insert into orders values (1, 'first'); CREATE DEFINER=dba@'%' VIEW every AS SELECT * FROM orders;",
    );
    await ship('v2', { ...one, 'migrations/2.sql': 'alter table orders add column paid int;' });
    const { database_backups: backups = [] } = world.state();
    const { deploy_id: id = '' } = (backups as { deploy_id?: string }[]).at(-1) ?? {};
    const back = await run('runner-rollback', ['shop', '--to', 'v1', '--database', id], { root });
    assert.is(back.status, 1, back.stderr);
    assert.match(
      back.stderr,
      /the user of the database may not make again what `dba`@`%` has made: mariadb: .*SET USER/,
    );
    assert.is(databases.sql('shop', 'select * from orders').stdout, '1\tfirst\tNULL\n');
    assert.equal([await world.page(), world.state().migrating ?? null], ['v2', null]);
    databases.sql('mysql', "GRANT SET USER ON *.* TO few@'%';");
    const again = await run('runner-rollback', ['shop', '--to', 'v1', '--database', id], { root });
    assert.is(again.status, 0, again.stderr);
    assert.is(databases.sql('shop', 'select * from orders').stdout, '1\tfirst\n');
    // What is its own it may make again without the right to make views.
    const trigger = 'TRIGGER one BEFORE INSERT ON orders FOR EACH ROW SET new.id = 1;';
    databases.sql('shop', `DROP VIEW every; CREATE DEFINER=few@'%' ${trigger}`);
    databases.sql('mysql', "REVOKE CREATE VIEW ON shop.* FROM few@'%';");
    await ship('v3', { ...one, 'migrations/3.sql': 'alter table orders add column more int;' });
    const { database_backups: more = [] } = world.state();
    const { deploy_id: last = '' } = (more as { deploy_id?: string }[]).at(-1) ?? {};
    const way = ['shop', '--to', 'v1', '--database', last];
    const own = await run('runner-rollback', way, { root });
    assert.is(own.status, 0, own.stderr);
  } finally {
    killApp(root, 'shop');
    await world.close();
    databases.close();
  }
});

test('MariaDB: a table whose history has numbers of transactions does not keep the database from being backed up', async () => {
  const databases = await startMariadb();
  if (!databases) return;
  const world = await makeWorld();
  const { root } = world;
  const ship = async (version: string, migrations: Record<string, string>) => {
    const deploy = deployFile(world.port, 'migrate: { run: node migrate.js, backup: auto }\n');
    await world.launch(version, { deploy, files: { 'migrate.js': TOOL, ...migrations } });
  };
  try {
    databases.create('shop');
    const stdin = databases.url('shop');
    await run('runner-env', ['set', 'shop', 'DATABASE_URL', '--file', '-'], { root, stdin });
    const from = 'a bigint unsigned generated always as row start';
    const to = 'b bigint unsigned generated always as row end';
    const one = {
      'migrations/1.sql': `create table prices(id int, ${from}, ${to}, period for system_time (a, b)) engine = InnoDB with system versioning;`,
    };
    await ship('v1', one);
    databases.sql('shop', 'insert into prices (id) values (1); update prices set id = 2;');
    await ship('v2', { ...one, 'migrations/2.sql': 'create table paid(id int);' });
    const { database_backups: backups = [] } = world.state();
    const { deploy_id: id = '' } = (backups as { deploy_id?: string }[]).at(-1) ?? {};
    const back = await run('runner-rollback', ['shop', '--to', 'v1', '--database', id], { root });
    assert.is(back.status, 0, back.stderr);
    assert.is(databases.sql('shop', 'select id from prices').stdout, '2\n');
  } finally {
    killApp(root, 'shop');
    await world.close();
    databases.close();
  }
});

for (const [name, begin] of [
  ['PostgreSQL', startPostgres],
  ['MariaDB', startMariadb],
  ['SQLite', sqliteFolder],
] as const)
  test(`the printed line restores ${name} byte for byte, with the version before running`, async () => {
    const databases = await begin();
    if (!databases) return;
    try {
      const rounds = await check(databases);
      process.stdout.write(`(${rounds} rounds)\n`);
    } finally {
      databases.close();
    }
  });

test.run();
