import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { deployFile } from '../deploys/world.ts';
import { own, test } from './migrate.ts';
import { rollback, ship, sql, TOOL } from './sqlite-world.ts';

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
  const unasked = await world.deploy(['--migrated', 'yes']);
  assert.equal(
    [unasked.status, unasked.stderr],
    [2, 'error: --migrated answers for a migration that was killed, and none of shop was\n'],
  );
  // What is in already changes nothing.
  const again = await ship({ world, database, version: 'v3', migrations });
  assert.is(again.status, 0, again.stderr);
  assert.not.match(again.stderr, /the database has changed/);
  assert.is(world.events().at(-1)?.migration, undefined);
});

test('a database that cannot be reached ends the deploy before the migration', async ({
  world,
}) => {
  const database = join(world.root, 'nowhere/shop.db');
  const done = await ship({ world, database, version: 'v1' });
  assert.is(done.status, 1);
  assert.match(
    done.stderr,
    /migrate: the database cannot be reached: .*; if the command creates it/,
  );
  assert.not.match(done.stderr, /(ok|failed) +(rehearse|migrate: sh)/);
  const anyway = await ship({ world, database, version: 'v2', more: ', rehearse: false' });
  assert.match(anyway.stderr, /failed +migrate: sh/);
});

test('a file that is not there is made by the migration alone', async ({ world }) => {
  const database = join(world.root, '../fresh.db');
  await world.push('v1', {
    deploy: deployFile(world.port, 'migrate: { run: "false", backup: auto }\n').replace(
      'env: { ',
      `env: { DATABASE_URL: "sqlite:${database}", `,
    ),
  });
  const failed = await world.deploy();
  assert.match(
    failed.stderr,
    /skipped rehearse on a copy of the schema: there is no file fresh\.db\n.*failed +migrate: false/s,
  );
  assert.not.ok(existsSync(database));
  const done = await ship({ world, database, version: 'v2' });
  assert.is(done.status, 0, done.stderr);
  assert.ok(existsSync(database));
});

test('a URL that cannot be read is known before anything is built', async ({ world }) => {
  const deploy = deployFile(world.port, 'migrate: sh migrate.sh\n');
  await world.push('v1', {
    deploy: deploy.replace('env: { ', 'env: { DATABASE_URL: "postgres://a:%zz@127.0.0.1/b", '),
  });
  const words = 'migrate: DATABASE_URL: the URL of the database has a % that is not followed';
  const checked = await world.deploy(['--check']);
  assert.is(checked.status, 1);
  assert.match(checked.stdout + checked.stderr, words);
  const done = await world.deploy();
  assert.match(done.stderr, words);
  assert.not.match(done.stderr, /export|zz/);
});

test('that an instance uses another database, which is not migrated, is printed', async ({
  world,
  database,
}) => {
  const other = join(world.root, '../other.db');
  sql(other, 'create table orders(id integer primary key)');
  const file = (second: string) => `instances:
  one: { env: { DATABASE_URL: "sqlite:${database}" } }
  two: { env: { DATABASE_URL: "sqlite:${second}" } }
migrate: sh migrate.sh
`;
  const files = { 'migrate.sh': TOOL, 'migrations/001.sql': 'create table extra(id int);' };
  const same = await world.launch('v1', { deploy: file(database), files });
  assert.not.match(same.stderr, /only the database/);
  const done = await world.launch('v2', { deploy: file(other), files });
  assert.match(
    done.stderr,
    /only the database of one is migrated: DATABASE_URL of two leads to another; make it an app of its own\n/,
  );
  assert.is(sql(other, '.tables'), 'orders');
});

own.run();
