/** A release migrates its database, and a rollback knows what that means. */

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, start } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { deployFile } from '../deploys/world.ts';
import { own, test } from './migrate.ts';
import { rollback, ship, sql, TOOL } from './sqlite-world.ts';

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
  await ship({ world, database, version: 'v4', migrations, more });
  const further = await rollback(world, '--to', 'v1', '--instance', 'default');
  const options =
    / rollback shop (--accept-schema v1 --to v1 --instance default) \(schema_changed\)/;
  assert.match(further.stderr, options);
  const [, said = ''] = options.exec(further.stderr) ?? [];
  assert.is((await rollback(world, ...said.split(' '))).status, 0);
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

test('a migration whose command was killed is not run again until someone says whether it is in', async ({
  world,
  database,
}) => {
  const more = ', rehearse: false';
  await ship({ world, database, version: 'v1', more });
  const migrations = { '001': 'update orders set total = total + 1;\n.shell kill -9 $PPID\n' };
  const done = await ship({ world, database, version: 'v2', migrations, more });
  assert.is(done.status, 1);
  const words =
    /the migration of v2 of shop, begun at \S+, ended with status 137 \(killed; out of memory\?\): look into the database, then runner deploy shop --migrated yes\|no/;
  assert.match(done.stderr, words);
  assert.match(
    done.stderr,
    /Next steps:\n {2}runner why shop\n {2}runner deploy shop --migrated yes\|no\n/,
  );
  assert.not.match(done.stderr, /the database (may have|has) changed/);
  const { root } = world;
  const { length } = world.events();
  assert.is((await run('runner-fetch', ['--deploy'], { root })).status, 0);
  assert.is(world.events().length, length);
  assert.is(sql(database, 'select total from orders'), '11');
  const status = (await run('runner-status', ['shop'], { root })).stdout.replace(/\s+/g, ' ');
  assert.match(status, /database: a migration was killed, and may be in: runner deploy shop --mig/);
  assert.match(status, new RegExp(`next: ${words.source}`));
  assert.not.match(status, /migrated by v2|tries again/);
  const { stdout: why } = await run('runner-why', ['shop'], { root });
  assert.match(why, /type: .*\n +runner deploy shop --migrated yes\|no\n/);
  assert.not.match(why, /tries again/);
  const yes = await world.deploy(['--migrated', 'yes']);
  assert.is(yes.status, 0, yes.stderr);
  assert.equal([await world.page(), sql(database, 'select total from orders')], ['v2', '11']);
});

test('the answer about a killed migration is not one about the migration of the next commit', async ({
  world,
  database,
}) => {
  const more = ', rehearse: false';
  await ship({ world, database, version: 'v1', more });
  const noted = "insert into schema_migrations values ('001');";
  const killed = `alter table orders add column paid text;\n${noted}\n.shell kill -9 $PPID\n`;
  const migrations = { '001': killed };
  assert.is((await ship({ world, database, version: 'v2', migrations, more })).status, 1);
  await world.push('v3', {
    deploy: deployFile(world.port, 'migrate: sh migrate.sh\n').replace(
      'env: { ',
      `env: { DATABASE_URL: "sqlite:${database}", `,
    ),
    files: { 'migrations/002.sql': 'alter table orders add column sent text;\n' },
  });
  const done = await world.deploy(['--migrated', 'yes']);
  assert.is(done.status, 0, done.stderr);
  assert.match(done.stderr, /ok +rehearse on a copy of the schema[\s\S]*ok +migrate: sh migrate/);
  assert.is(sql(database, 'select paid is null and sent is null from orders'), '1');
  assert.is(world.events().at(-1)?.migration, 'additive');
  const { migrations: all } = world.state() as { migrations: { version: string }[] };
  assert.equal(
    all.slice(-2).map(({ version }) => version),
    ['v2', 'v3'],
  );
});

test('applied says whether a migration is in whose command was killed', async ({
  world,
  database,
}) => {
  const applied =
    "sqlite3 $(echo $DATABASE_URL | cut -d: -f2) 'select total from orders' | grep -q 11";
  const more = `, rehearse: false, applied: "${applied}"`;
  await ship({ world, database, version: 'v1', more });
  const migrations = { '001': 'update orders set total = total + 1;\n.shell kill -9 $PPID\n' };
  const done = await ship({ world, database, version: 'v2', migrations, more });
  assert.is(done.status, 1);
  assert.match(done.stderr, /: `applied` says whether it is in: runner deploy shop\n/);
  const again = await world.deploy();
  assert.is(again.status, 0, again.stderr);
  assert.match(again.stderr, /ok +applied: /);
  assert.is(sql(database, 'select total from orders'), '11');
});

test('first that succeeded is not run again if its deploy failed later', async ({
  world,
  database,
}) => {
  const first = `sqlite3 -bail ${database} 'create table once(a); drop table orders'`;
  const more = `, rehearse: false, first: "${first}"`;
  await world.push('v1', {
    deploy: deployFile(world.port, `migrate: { run: sh migrate.sh${more} }\n`).replace(
      'env: { ',
      `env: { DATABASE_URL: "sqlite:${database}", `,
    ),
    files: {
      'migrate.sh': TOOL,
      'migrations/000.sql': 'select 1;\n',
      'server.js': 'process.exit(7)',
    },
  });
  const failed = await world.deploy();
  assert.is(failed.status, 1);
  assert.match(failed.stderr, /ok +migrate: sqlite3/);
  // No version was there before.
  assert.not.match(failed.stderr, /the database (has|may have) changed/);
  assert.is(world.events().at(-1)?.migration, undefined);
  const { stdout } = await run('runner-status', ['shop'], { root: world.root });
  assert.not.match(stdout, /migrated by/);
  const done = await ship({ world, database, version: 'v2', more });
  assert.is(done.status, 0, done.stderr);
  assert.match(done.stderr, /ok +migrate: sh migrate\.sh/);
});

own.run();
