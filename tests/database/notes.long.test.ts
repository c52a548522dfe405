/** What is known of migrations, here and in the database, when the database itself goes back or has two users. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { killApp } from '@runner/testing/app';
import { startMariadb, startPostgres, type TestDatabases } from '@runner/testing/databases';
import { run, start } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deployFile, makeWorld, type World } from '../deploys/world.ts';
import { TOOL } from './tool.ts';

const test = suite('notes of migrations');

/** A server whose app migrates a database with this URL. */
async function migrating(url: string) {
  const world = await makeWorld();
  const { root } = world;
  const files: Record<string, string> = { 'migrate.js': TOOL };
  const set = ['set', 'shop', 'DATABASE_URL', '--file', '-'];
  assert.is((await run('runner-env', set, { root, stdin: url })).status, 0);
  const push = (version: string, sql: string, more = ', backup: auto') => {
    files[`migrations/${version}.sql`] = sql;
    const deploy = deployFile(world.port, `migrate: { run: node migrate.js${more} }\n`);
    return world.push(version, { deploy, files });
  };
  return {
    ...world,
    push,
    async ship(version: string, sql: string, more?: string) {
      await push(version, sql, more);
      const done = await world.deploy();
      assert.is(done.status, 0, done.stderr);
    },
    restore(...more: string[]) {
      const all = world.state().database_backups as { deploy_id: string }[];
      const id = more[0] ?? all.at(-1)?.deploy_id ?? '';
      return run('runner-rollback', ['shop', '--to', 'v1', '--database', id], { root });
    },
  };
}

/** Kills a deploy once what it migrates has begun. */
async function killed({ root }: Pick<World, 'root'>, isBegun: () => boolean): Promise<void> {
  const deploy = start('runner-deploy', ['shop'], { root });
  await until(isBegun, 'the migration does not begin');
  process.kill(deploy.pid, 'SIGKILL');
  await deploy.done;
}

async function end(databases: TestDatabases, ...worlds: Pick<World, 'root' | 'close'>[]) {
  for (const world of worlds) {
    killApp(world.root, 'shop');
    await world.close();
  }
  databases.close();
}

test('a killed migration is asked about until a restore has taken it away, not if that fails', async () => {
  const databases = await startPostgres();
  if (!databases) return;
  databases.create('shop');
  const url = databases.url('shop');
  const world = await migrating(url);
  try {
    await world.ship('v1', 'create table orders(id int); insert into orders values (1);');
    await world.push('v2', 'alter table orders add column a int not null; select pg_sleep(3);');
    databases.sql('shop', 'delete from orders;');
    await killed(world, () => Boolean(world.state().migrating));
    const { deploy_id: id } = (world.state().database_backups as { deploy_id: string }[]).at(
      -1,
    ) as { deploy_id: string };
    const asked = await world.deploy();
    assert.match(
      asked.stderr,
      /was killed: look into the database, then runner deploy shop --migr/,
    );
    const { hostname, port, username, password } = new URL(url);
    const report = spawn('psql', ['-X', '-q', '-h', hostname, '-p', port, '-U', username, 'shop'], {
      env: { PATH: process.env.PATH, PGPASSWORD: decodeURIComponent(password) },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    report.stdin.write('begin; select * from orders; select 1;\n');
    await once(report.stdout, 'data');
    const failed = await world.restore(id);
    report.stdin.end();
    assert.match(failed.stderr, /the database could not be restored: .*lock timeout/);
    const again = await world.deploy();
    assert.match(
      again.stderr,
      /was killed: look into the database, then runner deploy shop --migr/,
    );
    const back = await world.restore(id);
    assert.is(back.status, 0, back.stderr);
    const done = await world.deploy();
    assert.equal([done.status, await world.page()], [0, 'v2'], done.stderr);
  } finally {
    await end(databases, world);
  }
});

test('after a restore the migrations of another server that were seen are not counted once more', async () => {
  const databases = await startMariadb();
  if (!databases) return;
  databases.create('shop');
  const worlds = [await migrating(databases.url('shop')), await migrating(databases.url('shop'))];
  const [one, two] = worlds as [(typeof worlds)[0], (typeof worlds)[0]];
  try {
    for (const each of worlds) await each.ship('v1', 'create table orders(id int, a int, b int);');
    for (const each of [two, one]) await each.ship('v2', 'alter table orders drop column a;');
    await one.ship('v3', 'alter table orders drop column b;');
    const { root } = one;
    const { deploy_id: id } = (one.state().database_backups as { deploy_id: string }[]).at(-1) as {
      deploy_id: string;
    };
    const back = await run('runner-rollback', ['shop', '--to', 'v2', '--database', id], { root });
    assert.is(back.status, 0, back.stderr);
    await one.push('v3', 'alter table orders add column c int;');
    const next = await one.deploy();
    assert.is(next.status, 0, next.stderr);
    assert.is(one.events().at(-1)?.migration, 'additive', next.stderr);
  } finally {
    await end(databases, ...worlds);
  }
});

test('two users of a database that neither owns know of a migration of the other that was killed', async () => {
  const databases = await startPostgres();
  if (!databases) return;
  databases.create('shop');
  databases.sql(
    'shop',
    `ALTER DATABASE shop OWNER TO root; CREATE SCHEMA one AUTHORIZATION app; CREATE SCHEMA two AUTHORIZATION poor;
     ALTER ROLE app SET search_path = one; ALTER ROLE poor SET search_path = two;`,
  );
  const url = databases.url('shop').replace('?schema=public', '');
  const worlds = [await migrating(url), await migrating(url.replace('//app:', '//poor:'))];
  const [one, two] = worlds as [(typeof worlds)[0], (typeof worlds)[0]];
  try {
    for (const each of worlds) await each.ship('v1', 'create table orders(id int);', '');
    await one.push('v2', 'select pg_sleep(3);', ', rehearse: false');
    const sleeps = `select count(*) from pg_stat_activity where query ~ 'pg_sleep' and pid <> pg_backend_pid()`;
    await killed(one, () => databases.sql('shop', sleeps).stdout !== '0\n');
    await two.push('v2', 'select 1;', ', rehearse: false');
    const refused = await two.deploy();
    assert.is(refused.status, 1);
    assert.match(
      refused.stderr,
      /migrate: the migration of v2 of shop, begun at \S+, was killed on (\S+), or still runs there: on \1 look/,
    );
    // What is said there is kept, whether it is in or not: the other server may be gone.
    assert.is((await two.deploy(['--migrated', 'no'])).status, 0);
    await two.push('v3', 'select 2;', ', rehearse: false');
    const free = await two.deploy();
    assert.is(free.status, 0, free.stderr);
    const yes = await one.deploy(['--migrated', 'yes']);
    assert.is(yes.status, 0, yes.stderr);
    await one.push('v3', 'select pg_sleep(3);', ', rehearse: false');
    await killed(one, () => databases.sql('shop', sleeps).stdout !== '0\n');
    await two.push('v4', 'select 3;', ', rehearse: false');
    assert.is((await two.deploy()).status, 1);
    assert.is((await two.deploy(['--migrated', 'yes'])).status, 0);
    await two.push('v5', 'select 4;', ', rehearse: false');
    assert.is((await two.deploy()).status, 0);
    assert.is((await one.deploy(['--migrated', 'yes'])).status, 0);
    assert.is((await two.deploy()).status, 0);
  } finally {
    await end(databases, ...worlds);
  }
});

test.run();
