/** A release migrates its database, and a rollback knows what that means. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { killApp } from '@runner/testing/app';
import { type Ended, run, start } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deployFile, makeWorld, type World } from '../deploys/world.ts';

const own = suite<{ world: World; database: string }>('migrate');
/** The database's own tool has to be there. */
const test = spawnSync('sqlite3', ['-version']).status === 0 ? own : own.skip;

own.before.each(async (context) => {
  const world = await makeWorld();
  const database = join(world.root, '..', 'shop.db');
  sql(database, 'create table orders(id integer primary key, note text, total int not null)');
  sql(database, "insert into orders values (1, 'first', 10)");
  Object.assign(context, { world, database });
});
own.after.each(async ({ world }) => {
  killApp(world.root, 'shop');
  await world.close();
});

const sql = (database: string, text: string) =>
  execFileSync('sqlite3', [database, text], { encoding: 'utf8' }).trim();

/** What a small tool for migrations does: each file once, noted in a table of its own. */
const TOOL = `set -e
file=\${DATABASE_URL#sqlite:}
sqlite3 "$file" 'create table if not exists schema_migrations(version text)'
for each in migrations/*.sql; do
  name=$(basename "$each" .sql)
  test -z "$(sqlite3 "$file" "select 1 from schema_migrations where version='$name'")" || continue
  sqlite3 -bail "$file" < "$each"
  sqlite3 "$file" "insert into schema_migrations values ('$name')"
done
`;

interface Shipped {
  readonly world: World;
  readonly database: string;
  readonly version: string;
  /** All migrations of the version, by their names. */
  readonly migrations?: Readonly<Record<string, string>>;
  /** More keys of the section. */
  readonly more?: string;
  readonly args?: readonly string[];
}

async function ship({ world, database, version, migrations = {}, more = '', args }: Shipped) {
  const files = Object.entries(migrations).map(([name, text]) => [`migrations/${name}.sql`, text]);
  const deploy = deployFile(world.port, `migrate: { run: sh migrate.sh${more} }\n`).replace(
    'env: { ',
    `env: { DATABASE_URL: "sqlite:${database}", `,
  );
  await world.push(version, {
    deploy,
    files: {
      'migrate.sh': TOOL,
      'migrations/000.sql': 'select 1;\n',
      ...Object.fromEntries(files),
    },
  });
  return world.deploy(args);
}

const rollback = ({ root }: World, ...args: string[]): Promise<Ended> =>
  run('runner-rollback', ['shop', ...args], { root });

test('what only adds is run once before the switch, and a rollback goes over it in a line', async ({
  world,
  database,
}) => {
  assert.is((await ship({ world, database, version: 'v1' })).status, 0);
  const migrations = { '001': 'alter table orders add column paid text;' };
  const done = await ship({ world, database, version: 'v2', migrations });
  assert.is(done.status, 0, done.stderr);
  assert.match(done.stderr, /ok +rehearse on a copy of the schema/);
  assert.match(done.stderr, /ok +migrate: sh migrate\.sh/);

  assert.match(done.stderr, /the database has changed, a version from before still works with it/);
  assert.is(sql(database, 'select count(*) from orders where paid is null'), '1');
  const success = world.events().at(-1);
  assert.equal([success?.event_type, success?.migration], ['DeploySuccess', 'additive']);
  const back = await rollback(world);
  assert.is(back.status, 0, back.stderr);
  assert.match(back.stderr, /the database stays as v2 has made it, which v1 works with/);
  // What is in already changes nothing.
  const again = await ship({ world, database, version: 'v3', migrations });
  assert.is(again.status, 0, again.stderr);
  assert.not.match(again.stderr, /the database has changed/);
  assert.is(world.events().at(-1)?.migration, undefined);
});

test('a rollback over what removes is refused with the way to restore, unless it is accepted', async ({
  world,
  database,
}) => {
  await ship({ world, database, version: 'v1' });
  const copy = join(world.root, '..', 'copy.db');
  const migrations = { '001': 'alter table orders drop column note;' };
  const more = `, backup: "sqlite3 ${database} '.backup ${copy}' && echo cp ${copy} ${database}"`;
  const done = await ship({ world, database, version: 'v2', migrations, more });
  assert.is(done.status, 0, done.stderr);
  assert.match(
    done.stderr,
    /a version from before does not work with it: removes column orders\.note/,
  );
  assert.is(sql(copy, 'select note from orders'), 'first');
  const refused = await rollback(world);
  assert.is(refused.status, 1);
  assert.match(
    refused.stderr,
    /^runner rollback: v1 does not work with the database that v2 has changed: removes column orders\.note; to restore what was before: cp \S+copy\.db \S+shop\.db; to go back anyway: runner rollback shop --accept-schema v1 \(schema_changed\)\n$/,
  );
  assert.is(await world.page(), 'v2');
  assert.is((await rollback(world, '--accept-schema', 'v2')).status, 1);
  const accepted = await rollback(world, '--accept-schema', 'v1');
  assert.is(accepted.status, 0, accepted.stderr);
  assert.is(await world.page(), 'v1');
});

test('one printed line brings version and database back, and one undoes it', async ({
  world,
  database,
}) => {
  const more = ', backup: auto';
  await ship({ world, database, version: 'v1', more });
  const migrations = { '001': 'alter table orders drop column note;' };
  const done = await ship({ world, database, version: 'v2', migrations, more });
  assert.is(done.status, 0, done.stderr);
  assert.match(done.stderr, /ok +back up the database: 12 KiB, about 1\.0 s/);
  sql(database, 'insert into orders values (2, 20)');
  const refused = await rollback(world);
  const [, line = '', id = ''] =
    /to restore what was before: (runner rollback shop --to v1 --database ([0-9a-f]{8}));/.exec(
      refused.stderr,
    ) ?? [];
  assert.is.not(line, '', refused.stderr);
  const none = await rollback(world, '--database', '00000000');
  assert.match(
    none.stderr,
    new RegExp(`'shop' has no backup '00000000' of its database: kept: ${id} \\(.+Z\\)`),
  );
  const back = await rollback(world, '--to', 'v1', '--database', id);
  assert.is(back.status, 0, back.stderr);
  assert.match(
    back.stdout,
    /^Rolled back shop from v2 to v1 .+\nThe database is as of .+Z; to undo this: runner rollback shop --to v2 --database [0-9a-f]{8}\n$/,
  );
  assert.equal([await world.page(), sql(database, 'select * from orders')], ['v1', '1|first|10']);
  assert.is(world.events().at(-1)?.database_backup, id);
  // Its migration is no longer in.
  const forward = await rollback(world, '--to', 'v2');
  assert.match(
    forward.stderr,
    /v2 needs the migration of v2, which a restore of the database took away; to migrate once more: runner deploy shop --ref [0-9a-f]{40};/,
  );
  const [undo = ''] = back.stdout.match(/[0-9a-f]{8}\n$/) ?? [];
  const undone = await rollback(world, '--to', 'v2', '--database', undo.trim());
  assert.is(undone.status, 0, undone.stderr);
  assert.equal([await world.page(), sql(database, 'select * from orders')], ['v2', '1|10\n2|20']);
});

test('a version that is not healthy after a restore leaves database and version as they were', async ({
  world,
  database,
}) => {
  const more = ', backup: auto';
  await ship({ world, database, version: 'v1', more });
  const migrations = { '001': 'alter table orders drop column note;' };
  await ship({ world, database, version: 'v2', migrations, more });
  const [{ deploy_id: id = '' } = {}] = world.state().database_backups as { deploy_id?: string }[];
  sql(database, 'insert into orders values (2, 20)');
  const [release = ''] = readdirSync(join(world.root, 'apps/shop/releases')).sort();
  writeFileSync(join(world.root, 'apps/shop/releases', release, 'server.js'), 'process.exit(7)');
  const failed = await rollback(world, '--to', 'v1', '--database', id);
  assert.is(failed.status, 1, failed.stderr);
  assert.match(failed.stderr, /(ok +restore the database as of .+Z .*\n(.*\n)*){2}/);
  assert.equal([await world.page(), sql(database, 'select * from orders')], ['v2', '1|10\n2|20']);
  assert.is(world.state().migrating, null);
});

test('the version before, tried on a full copy by its own check, says whether it works', async ({
  world,
  database,
}) => {
  const file = '${DATABASE_URL#sqlite:}';
  const check = (words: string) => `, rehearse: full, check: 'sqlite3 -bail "${file}" "${words}"'`;
  const writing = check('insert into orders(id, total) values (null, 1)');
  await ship({ world, database, version: 'v1', more: writing });
  const drop = { '001': 'alter table orders drop column note;' };
  const proven = await ship({ world, database, version: 'v2', migrations: drop, more: writing });
  assert.is(proven.status, 0, proven.stderr);
  assert.match(proven.stderr, /ok +rehearse on a full copy: [\d.]+ KiB, about 1\.0 s/);
  assert.match(
    proven.stderr,
    /the version before was tried on a copy and works with it: removes column orders\.note/,
  );
  assert.is(world.events().at(-1)?.migration, 'proven');
  assert.is(sql(database, 'select count(*) from orders'), '1');
  const back = await rollback(world);
  assert.is(back.status, 0, back.stderr);
  assert.match(
    back.stderr,
    /the database stays as v2 has made it, on a copy of which v1 was tried\n/,
  );
  const more = check('select * from orders');
  const reading = { ...drop, '002': 'alter table orders add column paid text;' };
  await ship({ world, database, version: 'v3', migrations: reading, more });
  const unproven = { ...reading, '003': 'alter table orders drop column paid;' };
  const read = await ship({ world, database, version: 'v4', migrations: unproven, more: writing });
  assert.match(read.stderr, /the check of the version before writes nothing: it proves nothing/);
  assert.is(world.events().at(-1)?.migration, 'broken');
  const renamed = { ...unproven, '004': 'alter table orders rename to purchases;' };
  const failed = await ship({ world, database, version: 'v5', migrations: renamed, more });
  assert.is(failed.status, 0, failed.stderr);
  assert.match(failed.stderr, /the check of v4 fails on the migrated copy: `sqlite3 .+ status 1/);
  assert.is(world.events().at(-1)?.migration, 'broken');
});

test('a contract runs once, when no version from before is kept', async ({ world, database }) => {
  const file = '${DATABASE_URL#sqlite:}';
  const more = `, rehearse: false, backup: auto, contract: 'sqlite3 -bail "${file}" "alter table orders drop column note"'`;
  const keeping = async (version: string, with_ = '') => {
    const deploy = deployFile(world.port, `keep: 2\nmigrate: { run: sh migrate.sh${with_} }\n`);
    const of = deploy.replace('env: { ', `env: { DATABASE_URL: "sqlite:${database}", `);
    const files = { 'migrate.sh': TOOL, 'migrations/000.sql': 'select 1;\n' };
    await world.push(version, { deploy: of, files });
    const done = await world.deploy();
    assert.is(done.status, 0, done.stderr);
    return done.stderr;
  };
  const columns = () => sql(database, "select group_concat(name) from pragma_table_info('orders')");
  await keeping('v1');
  assert.not.match(await keeping('v2', more), /contract/);
  assert.is(columns(), 'id,note,total');
  const third = await keeping('v3', more);
  assert.match(third, /ok +contract of v2: sqlite3/);
  assert.match(
    third,
    /to restore what was before the contract: runner rollback shop --to v3 --database [0-9a-f]{8}-contract\n/,
  );
  assert.is(columns(), 'id,total');
  const back = await rollback(world);
  assert.is(back.status, 0, back.stderr);
  // That of v2, which is kept, has run.
  assert.not.match(await keeping('v4', more), /contract/);
  // It fails now: the column is gone.
  assert.match(
    await keeping('v5', more),
    /the deploy succeeded, but contract of v4: sqlite3 .+ ended with status 1/,
  );
  // Those of the last deploy and of its contract: the others no version is from before.
  assert.is(readdirSync(join(world.root, 'apps/shop/database')).length, 2);
});

test('a deploy that fails after its migration names the way back to what still runs', async ({
  world,
  database,
}) => {
  const more = ', backup: auto';
  await ship({ world, database, version: 'v1', more });
  const deploy = deployFile(world.port, `migrate: { run: sh migrate.sh${more} }\n`)
    .replace('env: { ', `env: { DATABASE_URL: "sqlite:${database}", `)
    .replace('exec node server.js', 'exit 7');
  const files = {
    'migrate.sh': TOOL,
    'migrations/000.sql': 'select 1;\n',
    'migrations/001.sql': 'alter table orders drop column note;\n',
  };
  await world.push('v2', { deploy, files });
  const failed = await world.deploy();
  assert.is(failed.status, 1);
  const [, id = ''] =
    /removes column orders\.note; to restore what was before: runner rollback shop --to v1 --database ([0-9a-f]{8})/.exec(
      failed.stderr,
    ) ?? [];
  assert.is.not(id, '', failed.stderr);
  assert.is(sql(database, 'select * from orders'), '1|10');
  const back = await rollback(world, '--to', 'v1', '--database', id);
  assert.is(back.status, 0, back.stderr);
  assert.equal([await world.page(), sql(database, 'select * from orders')], ['v1', '1|first|10']);
});

test('what was not rehearsed is not known, and what the tool has not run changes nothing', async ({
  world,
  database,
}) => {
  const more = ', rehearse: false';
  await ship({ world, database, version: 'v1', more });
  const migrations = { '001': "update orders set note = 'second';" };
  const done = await ship({ world, database, version: 'v2', migrations, more });
  assert.is(done.status, 0, done.stderr);
  assert.match(
    done.stderr,
    /the database may have changed, whether a version from before works with it is not known: it was not rehearsed/,
  );
  assert.is(world.events().at(-1)?.migration, 'unknown');
  const again = await ship({ world, database, version: 'v3', migrations, more });
  assert.is(again.status, 0, again.stderr);
  assert.not.match(again.stderr, /may have changed/);
  assert.is(world.events().at(-1)?.migration, undefined);
  assert.is((await rollback(world, '--to', 'v2')).status, 0);
  const refused = await rollback(world, '--to', 'v1');
  assert.is(refused.status, 1);
  assert.match(refused.stderr, /runner rollback shop --accept-schema v1 \(schema_changed\)/);
});

test('a command that does not use the variable is found in its rehearsal', async ({
  world,
  database,
}) => {
  const deploy = deployFile(
    world.port,
    `migrate: "sqlite3 ${database} 'create table extra(a)'"\n`,
  ).replace('env: { ', `env: { DATABASE_URL: "sqlite:${database}", `);
  await world.push('v1', { deploy });
  const done = await world.deploy();
  assert.is(done.status, 1);
  assert.match(done.stderr, /migrate: the command does not use DATABASE_URL: its rehearsal/);
});

test('a migration that fails leaves the version before, and says which statement', async ({
  world,
  database,
}) => {
  await ship({ world, database, version: 'v1' });
  const migrations = { '001': 'alter table carts add column paid text;' };
  const done = await ship({ world, database, version: 'v2', migrations });
  assert.is(done.status, 1);
  assert.is(await world.page(), 'v1');
  const failure = world.events().at(-1);
  assert.equal([failure?.event_type, failure?.stage], ['DeployFailure', 'migrate']);
  assert.match(String(failure?.cause), /no such table: carts/);
  const none = deployFile(world.port, 'migrate: sh migrate.sh\n');
  await world.push('v3', { deploy: none, files: { 'migrate.sh': TOOL } });
  const unset = await world.deploy();
  assert.is(unset.status, 1);
  assert.match(unset.stderr, /migrate: DATABASE_URL is not set: runner env set shop DATABASE_URL/);
});

test('a migration that was killed is not run again until someone says whether it is in', async ({
  world,
  database,
}) => {
  await ship({ world, database, version: 'v1' });
  const [there, go] = ['there', 'go'].map((name) => join(world.root, '..', name)) as [
    string,
    string,
  ];
  const hold = `.shell touch ${there}; until test -e ${go}; do sleep 0.05; done\n`;
  const migrations = { '001': `alter table orders add column paid text;\n${hold}` };
  const more = ', rehearse: false';
  await world.push('v2', {
    deploy: deployFile(world.port, `migrate: { run: sh migrate.sh${more} }\n`).replace(
      'env: { ',
      `env: { DATABASE_URL: "sqlite:${database}", `,
    ),
    files: { 'migrate.sh': TOOL, 'migrations/001.sql': migrations['001'] },
  });
  const killed = start('runner-deploy', ['shop'], { root: world.root });

  await until(() => existsSync(there), 'the migration does not begin');
  process.kill(killed.pid, 'SIGKILL');
  await killed.done;
  const refused = await world.deploy();
  assert.is(refused.status, 1);
  assert.match(
    refused.stderr,
    /migrate: the migration of v2 of shop, begun at \S+, was killed: look into the database, then runner deploy shop --migrated yes\|no/,
  );
  assert.is(await world.page(), 'v1');
  // The timer builds nothing and records nothing again.
  const { length } = world.events();
  const fetched = await run('runner-fetch', ['--deploy'], { root: world.root });
  assert.is(fetched.status, 0, fetched.stderr);
  assert.is(world.events().length, length);
  assert.is((await world.deploy(['--migrated', 'perhaps'])).status, 2);
  writeFileSync(go, '');
  const yes = await world.deploy(['--migrated', 'yes']);
  assert.is(yes.status, 0, yes.stderr);
  assert.is(await world.page(), 'v2');
  assert.is(world.events().at(-1)?.migration, 'unknown');
  assert.match(
    (await rollback(world)).stderr,
    /whether v1 works with the database that v2 has changed is not known/,
  );
});

own.run();
