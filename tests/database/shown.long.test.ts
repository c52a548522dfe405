/** What commands show of a migration. */
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { rollback, ship, sqliteSuite } from './sqlite-world.ts';

const own = sqliteSuite('shown');
const { test } = own;

test('the changes of a release say what its migration means for the version before', async ({
  world,
  database,
}) => {
  const changes = (...args: string[]) =>
    run('runner-changes', ['shop', ...args], { root: world.root });
  const more = ', backup: auto';
  await ship({ world, database, version: 'v1', more });
  const adding = { '001': 'alter table orders add column paid text;' };
  await ship({ world, database, version: 'v2', migrations: adding, more });
  const open = await changes();
  assert.match(
    open.stdout,
    /\ndatabase: migrated by v2, \d{4}-.+ UTC: a version from before still works with it\nway back: the database stays as v2 has made it, which v1 works with\n$/,
  );
  const migrations = { ...adding, '002': 'alter table orders drop column note;' };
  await ship({ world, database, version: 'v3', migrations, more });
  assert.match((await changes('v1', 'v2')).stdout, /\ndatabase: migrated by v2, .+\nway back: v1 /);
  const closed = await changes('v1');
  const line = /runner rollback shop --to v1 --database [0-9a-f]{8}\n/.exec(
    (await rollback(world, '--to', 'v1')).stderr.replace('; to go back anyway', '\n'),
  );
  assert.ok(line);
  assert.match(
    closed.stdout,
    /\ndatabase: migrated by v3, .+ UTC: a version from before does not work with it; removes column orders\.note\ndatabase: migrated by v2, .+\nway back: v1 does not work with the database that v3 has changed; to restore what was before: runner/,
  );
  assert.ok(closed.stdout.endsWith(line[0]), closed.stdout);
  const json = JSON.parse((await changes('v1', '--json')).stdout);
  const verdicts = json.migrations.map((each: { verdict: string }) => each.verdict);
  assert.equal(verdicts, ['broken', 'additive']);
  const { version, verdict, open: isOpen, fix } = json.way_back;
  assert.equal([version, verdict, isOpen], ['v1', 'broken', false]);
  assert.is(`${fix.command}\n`, line[0]);
  await ship({ world, database, version: 'v4', migrations, more });
  const none = JSON.parse((await changes('--json')).stdout);
  assert.equal([none.migrations, none.way_back], [[], null]);
});

own.run();
