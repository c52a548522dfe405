/** A migration that failed: what is in the database decides, not what its rehearsal had announced. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { run } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { deployFile } from '../deploys/world.ts';
import { rollback, ship, sql, sqliteSuite, TOOL } from './sqlite-world.ts';

const own = sqliteSuite('failed migrations');
const { test } = own;

/** Fails on the database itself alone, as a constraint does that only its rows violate. */
const FAILS = TOOL.replace('set -e', 'set -e; case $DATABASE_URL in *shop.db) exit 3; esac');

test('a migration that was undone leaves the way back free, also of the release that repairs it', async ({
  world,
  database,
}) => {
  const more = ', backup: auto';
  const first = { '001': 'alter table orders add column paid text;' };
  await ship({ world, database, version: 'v1', migrations: first, more });
  const deploy = deployFile(world.port, `migrate: { run: sh migrate.sh${more} }\n`).replace(
    'env: { ',
    `env: { DATABASE_URL: "sqlite:${database}", `,
  );
  const text = 'alter table orders drop column note;\n';
  await world.push('v2', { deploy, files: { 'migrate.sh': FAILS, 'migrations/002.sql': text } });
  const failed = await world.deploy();
  assert.is(failed.status, 1);
  assert.match(failed.stderr, /ok +rehearse on a copy of the schema/);
  assert.not.match(failed.stderr + failed.stdout, /the database (has|may have)|does not work with/);
  assert.is(world.events().at(-1)?.migration, undefined);
  const repaired = { ...first, '002': 'alter table orders add column good text;' };
  const done = await ship({ world, database, version: 'v3', migrations: repaired, more });
  assert.is(done.status, 0, done.stderr);
  const back = await rollback(world);
  assert.is(back.status, 0, back.stderr);
  assert.match(back.stderr, /the database stays as v3 has made it, which v1 works with\n/);
});

test('a command that changes the database itself in its rehearsal and then fails is not said to have spared it', async ({
  world,
  database,
}) => {
  const deploy = deployFile(
    world.port,
    `migrate: "sqlite3 ${database} 'create table extra(a)'; exit 3"\n`,
  ).replace('env: { ', `env: { DATABASE_URL: "sqlite:${database}", `);
  await world.push('v1', { deploy });
  const failed = await world.deploy();
  assert.is(failed.status, 1);
  assert.match(failed.stderr, /migrate: the command does not use DATABASE_URL: its rehearsal/);
  assert.not.match(failed.stderr, /it was not run on the database/);
});

test('a command is not said to have changed a database that cannot be read after its rehearsal', async ({
  world,
  database,
}) => {
  const [begun, held] = [`${database}.begun`, `${database}.held`];
  const wait = `touch ${begun}; while test ! -e ${held}; do sleep 0.1; done`;
  const deploy = deployFile(world.port, `migrate: "${wait}; exit 3"\n`).replace(
    'env: { ',
    `env: { DATABASE_URL: "sqlite:${database}", `,
  );
  await world.push('v1', { deploy });
  const deploying = world.deploy();
  await until(() => existsSync(begun), 'the rehearsal does not begin');
  const lock = spawn('sqlite3', [database], { stdio: ['pipe', 'pipe', 'inherit'] });
  lock.stdin.write("begin exclusive; select 'held';\n");
  await once(lock.stdout, 'data');
  writeFileSync(held, '');
  const failed = await deploying;
  lock.kill();
  assert.is(failed.status, 1);
  assert.match(failed.stderr, /migrate: its rehearsal on a copy of the schema ended with status 3/);
});

test('a migration that failed on the copy is not run on the database', async ({
  world,
  database,
}) => {
  await ship({ world, database, version: 'v1' });
  const migrations = {
    '001': 'alter table orders add column half text;\nalter table orders drop column missing;',
  };
  const failed = await ship({ world, database, version: 'v2', migrations });
  assert.is(failed.status, 1);
  assert.match(
    failed.stderr,
    /failed +rehearse on a copy of the schema[\s\S]*migrate: its rehearsal on a copy of the schema ended with status 1: it was not run on the database/,
  );
  assert.match(String(world.events().at(-1)?.cause), /no such column: "missing"/);
  assert.is(world.events().at(-1)?.stage, 'migrate');
  assert.not.match(sql(database, '.schema orders'), /half/);
  const done = await ship({ world, database, version: 'v3', migrations: { '001': 'select 1;' } });
  assert.is(done.status, 0, done.stderr);
  assert.is((await rollback(world)).status, 0);
});

test('status, the plan and the deploy give the verdict of all that a rollback crosses', async ({
  world,
  database,
}) => {
  await ship({ world, database, version: 'v1' });
  const migrations = { '001': 'alter table orders drop column note;' };
  const deploy = deployFile(world.port, 'migrate: sh migrate.sh\n')
    .replace('env: { ', `env: { DATABASE_URL: "sqlite:${database}", `)
    .replace('exec node server.js', 'exit 7');
  const text = `${migrations['001']}\n`;
  await world.push('v2', { deploy, files: { 'migrate.sh': TOOL, 'migrations/001.sql': text } });
  assert.is((await world.deploy()).status, 1);
  const { root } = world;
  const why = 'v1 does not work with the database that v2 has changed: removes column orders.note';
  const more = { ...migrations, '002': 'alter table orders add column good text;' };
  await world.push('v3', {
    deploy: deploy.replace('exit 7', 'exec node server.js'),
    files: { 'migrations/002.sql': `${more['002']}\n` },
  });
  const planned = await run('runner-plan', ['deploy', 'shop', '--json'], { root });
  const anyway = 'to go back anyway: runner rollback shop --accept-schema v1';
  assert.is(JSON.parse(planned.stdout).summary.undo, `runner rollback shop, but ${why}; ${anyway}`);
  const done = await ship({ world, database, version: 'v3', migrations: more });
  assert.match(done.stderr, /the database has changed, a version from before still works with it/);
  assert.match(done.stderr, `runner rollback shop, but ${why}; ${anyway}\n`);
  const status = await run('runner-status', ['shop'], { root });
  assert.match(
    status.stdout.replace(/\s+/g, ' '),
    /migrated by v3, \S+ \S+ UTC: a version from before still works with it (?:adds \S+ \S+ )*runner rollback shop: v1 does not work with the database that v2 has changed: removes column orders\.note/,
  );
  assert.match((await rollback(world)).stderr, why);
});

own.run();
