/** Deploys that migrate a PostgreSQL and a MariaDB server; the password is nowhere to be read afterwards. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { killApp } from '@runner/testing/app';
import { startMariadb, startPostgres, type TestDatabases } from '@runner/testing/databases';
import { run, start } from '@runner/testing/run';
import { findBytes, findSecret } from '@runner/testing/secret-search';
import { temporaryFolder } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deployFile, makeWorld } from '../deploys/world.ts';
import { CHECK, TOOL } from './tool.ts';

const test = suite('migrations of a server');

async function check(databases: TestDatabases): Promise<void> {
  const world = await makeWorld();
  const { root } = world;
  const url = databases.url('shop');
  const password = decodeURIComponent(new URL(url.replace(/^\w+\+?\w*:/, 'http:')).password);
  databases.create('shop');
  const ship = async (version: string, migrations: Record<string, string>, more = '') => {
    const files = Object.entries(migrations).map(([name, text]) => [`migrations/${name}`, text]);
    await world.push(version, {
      deploy: deployFile(world.port, `migrate: { run: node migrate.js${more} }\n`),
      files: { 'migrate.js': TOOL, 'check.js': CHECK, ...Object.fromEntries(files) },
    });
    return world.deploy(['--verbose']);
  };
  const rollback = (...args: string[]) => run('runner-rollback', ['shop', ...args], { root });
  const said: string[] = [];
  const migrationOf = () => world.events().at(-1)?.migration;
  try {
    const set = await run('runner-env', ['set', 'shop', 'DATABASE_URL', '--file', '-'], {
      root,
      stdin: url,
    });
    assert.is(set.status, 0, set.stderr);
    const one = 'create table orders(id int primary key, note varchar(20), total int not null);';
    const first = await ship('v1', { '1.sql': one });
    assert.is(first.status, 0, first.stderr);
    databases.sql('shop', "insert into orders values (1, 'first', 10);");
    const two = 'alter table orders add column paid varchar(5);';
    const second = await ship('v2', { '1.sql': one, '2.sql': two });
    assert.is(second.status, 0, second.stderr);
    assert.is(migrationOf(), 'additive', second.stderr);
    const back = await rollback();
    assert.is(back.status, 0, back.stderr);
    const three = 'alter table orders drop column note;';
    const third = await ship('v3', { '1.sql': one, '2.sql': two, '3.sql': three });
    assert.is(third.status, 0, third.stderr);
    assert.is(migrationOf(), 'broken');
    const refused = await rollback();
    assert.match(
      refused.stderr,
      /v1 does not work with the database that v3 has changed: removes column orders\.note/,
    );
    const four = "update orders set paid = 'yes' where total > 1000;";
    const fourth = await ship('v4', { '1.sql': one, '2.sql': two, '3.sql': three, '4.sql': four });
    assert.is(migrationOf(), 'unknown', fourth.stderr);
    assert.match(fourth.stderr, /changes rows of orders/);
    const full = ', rehearse: full, check: node check.js';
    const five = 'alter table orders add column mail varchar(20);';
    const all = { '1.sql': one, '2.sql': two, '3.sql': three, '4.sql': four, '5.sql': five };
    await ship('v4.1', all, full);
    const six = "update orders set paid = 'no';";
    const sixth = await ship('v4.2', { ...all, '6.sql': six }, full);
    assert.is(migrationOf(), 'proven', sixth.stderr);
    assert.is(databases.sql('shop', 'select count(*) from orders').stdout.trim(), '1');
    const returned = await rollback();
    assert.is(returned.status, 0, returned.stderr);
    const seven = 'alter table orders add column must int not null;';
    const emptied = `delete from orders; ${seven}`;
    const seventh = await ship('v4.3', { ...all, '6.sql': six, '7.sql': emptied }, full);
    assert.match(seventh.stderr, /the check of v4\.1 fails on the migrated copy/);
    assert.is(migrationOf(), 'broken');
    const failing = await ship('v5', { '8.sql': 'alter table nothing add column a int;' });
    assert.is(failing.status, 1);
    assert.is(await world.page(), 'v4.3');
    const [wide, what, undone] =
      databases.kind === 'postgres'
        ? [
            'alter role app set search_path = nowhere;',
            'the setting search_path of role app',
            'alter role app reset search_path',
          ]
        : [
            'set global max_statement_time = 100;',
            'the variable MAX_STATEMENT_TIME',
            'set global max_statement_time = 0',
          ];
    // In place of the one that fails.
    const widely = await ship('v6', { '8.sql': wide });
    assert.is(widely.status, 1);
    assert.match(
      widely.stderr,
      new RegExp(`its rehearsal on a copy changed the server itself: ${what}; undo that`, 'i'),
    );
    databases.sql('shop', undone);
    said.push(
      ...[first, second, third, fourth, sixth, seventh, failing].flatMap((each) => [
        each.stdout,
        each.stderr,
      ]),
    );
    for (const form of [password, encodeURIComponent(password)]) {
      assert.equal(findBytes(root, form), []);
      assert.equal(findSecret(said.join('\n'), form), []);
    }
    const instead = async (login: string) => {
      const stdin = url.replace(/app:[^@]*/, login);
      await run('runner-env', ['set', 'shop', 'DATABASE_URL', '--file', '-'], { root, stdin });
      return ship('v7', { '8.sql': 'select 1;' });
    };
    const poor = await instead(`poor:${encodeURIComponent(password)}`);
    assert.match(
      poor.stderr,
      /skipped rehearse on a copy of the schema: the user of the database may not create databases\n[\s\S]* migrate: node/,
    );
    const locked = await instead('app:wrong');
    assert.is(locked.status, 1);
    assert.match(locked.stderr, /migrate: the database cannot be reached: /);
    assert.not.match(locked.stderr, /(ok|failed) +(rehearse|migrate: node)|wrong/);
    const left =
      databases.kind === 'postgres' ? 'select datname from pg_database' : 'show databases';
    assert.not.match(databases.sql('shop', left).stdout, /runner_scratch/);
  } finally {
    killApp(root, 'shop');
    await world.close();
  }
}

/** Two servers with one database: never two migrations at once, and both know what the one did. */
async function checkTwo(databases: TestDatabases): Promise<void> {
  const worlds = [await makeWorld(), await makeWorld()];
  databases.create('pair');
  const log = join(temporaryFolder('pair'), 'log');
  const slow = `${TOOL}require('node:fs').appendFileSync(${JSON.stringify(log)}, 'end\\n');`;
  const tool = `require('node:fs').appendFileSync(${JSON.stringify(log)}, 'begin\\n'); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700);${slow}`;
  const ship = async (version: string, migrations: Record<string, string>) =>
    Promise.all(
      worlds.map(async (world) => {
        const files = Object.entries(migrations).map(([name, text]) => [
          `migrations/${name}`,
          text,
        ]);
        await world.push(version, {
          deploy: deployFile(world.port, 'migrate: { run: node migrate.js, rehearse: false }\n'),
          files: { 'migrate.js': tool, ...Object.fromEntries(files) },
        });
        return world.deploy();
      }),
    );
  try {
    for (const { root } of worlds)
      await run('runner-env', ['set', 'shop', 'DATABASE_URL', '--file', '-'], {
        root,
        stdin: databases.url('pair'),
      });
    const one = 'create table orders(id int primary key, note varchar(20));';
    const done = [
      ...(await ship('v1', { '1.sql': one })),
      ...(await ship('v2', { '1.sql': one, '2.sql': 'alter table orders drop column note;' })),
    ];
    for (const each of done) assert.is(each.status, 0, each.stderr);
    assert.is(readFileSync(log, 'utf8'), 'begin\nend\n'.repeat(4));
    assert.match(
      done.map(({ stderr }) => stderr).join(''),
      /the database is being migrated: another server, or another app with another URL of it; waiting/,
    );
    for (const { root } of worlds) {
      const refused = await run('runner-rollback', ['shop'], { root });
      assert.is(refused.status, 1);
      assert.match(
        refused.stderr,
        /v1 does not work with the database that v2 has changed: .*removes column orders\.note/,
      );
    }
  } finally {
    for (const world of worlds) {
      killApp(world.root, 'shop');
      await world.close();
    }
  }
}

/**
 * A deploy that is killed while it migrates: no other server migrates until someone has said what became of
 * it, and each records the verdict of the one that ran a migration.
 */
async function checkKilled(databases: TestDatabases, isOwner = true): Promise<void> {
  const worlds = [await makeWorld(), await makeWorld()] as const;
  const [one, two] = worlds;
  databases.create('fleet');
  const unknown = /if this is killed, no other server will know of it: (.+)/;
  if (!isOwner)
    databases.sql(
      'fleet',
      'GRANT CREATE ON SCHEMA public TO app; ALTER DATABASE fleet OWNER TO root;',
    );
  const sleep = databases.kind === 'postgres' ? 'select pg_sleep(4);' : 'select sleep(4);';
  const migrations: [string, string][] = [
    ['migrations/1.sql', 'create table acc(n int); insert into acc values (100);'],
  ];
  const push = async (version: string, sql?: string, more = '') => {
    if (sql) migrations.push([`migrations/${migrations.length + 1}.sql`, sql]);
    for (const world of worlds)
      await world.push(version, {
        deploy: deployFile(world.port, `migrate: { run: node migrate.js${more} }\n`),
        files: { 'migrate.js': TOOL, ...Object.fromEntries(migrations) },
      });
  };
  const blind = ', rehearse: false';
  const sum = () => databases.sql('fleet', 'select n from acc').stdout.trim();
  const noted = () =>
    databases.sql('fleet', 'select count(*) from schema_migrations').stdout.trim();
  const killed = async ({ root, state }: typeof one, isBegun: () => boolean) => {
    const deploy = start('runner-deploy', ['shop'], { root });
    // The other condition starts a program: not while the repository is served.
    await until(() => state().migrating, 'the migration does not begin');
    await until(isBegun, 'the migration does not begin');
    process.kill(deploy.pid, 'SIGKILL');
    await deploy.done;
  };
  const refused = async ({ deploy }: typeof one) => {
    const { status, stderr } = await deploy();
    assert.is(status, 1);
    assert.match(
      stderr,
      /migrate: the migration of v\d of shop, begun at \S+, was killed on (\S+), or still runs there: on \1 look into the database, then runner deploy shop --migrated yes\|no; if \1 is gone, here: runner deploy shop --migrated yes\|no/,
    );
  };
  try {
    for (const { root } of worlds)
      await run('runner-env', ['set', 'shop', 'DATABASE_URL', '--file', '-'], {
        root,
        stdin: databases.url('fleet'),
      });
    await push('v1');
    const firsts = [await one.deploy(), await two.deploy()];
    for (const { status, stderr } of firsts) assert.is(status, 0, stderr);
    const why =
      databases.kind === 'mysql' ? /is empty/ : isOwner ? /^$/ : /must be owner of database/;
    assert.match(unknown.exec(firsts[0]?.stderr ?? '')?.[1] ?? '', why);
    assert.not.match(firsts[1]?.stderr ?? '', unknown);
    await push(
      'v2',
      `update acc set n = n + 100; ${sleep} alter table acc add column z int;`,
      blind,
    );
    const waiting = killed(one, () => sum() === '200');
    await until(() => one.state().migrating, 'the migration does not begin');
    await Promise.all([refused(two), waiting]);
    await refused(two);
    await until(() => noted() === '2', 'the command that was left does not end');
    await refused(two);
    const yes = await one.deploy(['--migrated', 'yes']);
    assert.is(yes.status, 0, yes.stderr);
    const free = await two.deploy();
    assert.is(free.status, 0, free.stderr);
    assert.is(sum(), '200');
    // The server of the killed one is gone.
    await push('v3', `update acc set n = n + 100; ${sleep}`, blind);
    await killed(two, () => sum() === '300');
    await until(() => noted() === '3', 'the command that was left does not end');
    await refused(one);
    assert.is((await one.deploy(['--migrated', 'yes'])).status, 0);
    assert.is((await one.deploy(['--migrated', 'no'])).status, 2);
    assert.is(sum(), '300');
    assert.is((await two.deploy(['--migrated', 'yes'])).status, 0);
    // Its schema alone looks additive.
    await push('v4', 'update acc set n = 5; alter table acc add column r int;');
    for (const { deploy, events } of worlds) {
      const done = await deploy();
      assert.is(done.status, 0, done.stderr);
      assert.is(events().at(-1)?.migration, 'unknown', done.stderr);
    }
    for (const { root } of worlds) {
      const back = await run('runner-rollback', ['shop'], { root });
      assert.is(back.status, 1);
      assert.match(
        back.stderr,
        /whether v3 works with the database that v4 has changed is not known/,
      );
    }
    await push('v5', 'alter table acc add column s int;');
    for (const { deploy, events } of worlds) {
      assert.is((await deploy()).status, 0);
      assert.is(events().at(-1)?.migration, 'additive');
    }
  } finally {
    for (const world of worlds) {
      killApp(world.root, 'shop');
      await world.close();
    }
  }
}

for (const [name, begin] of [
  ['PostgreSQL', startPostgres],
  ['MariaDB', startMariadb],
] as const)
  test(`${name} is migrated once, a rollback knows its schema, and no password is shown`, async () => {
    const databases = await begin();
    if (!databases) return;
    try {
      await check(databases);
      await checkTwo(databases);
      await checkKilled(databases);
      databases.remove('fleet');
      if (databases.kind === 'postgres') await checkKilled(databases, false);
    } finally {
      databases.close();
    }
  });

test.run();
