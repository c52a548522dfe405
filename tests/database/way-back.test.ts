/** The ways back over a migration: a backup, a version that was tried, and what no version needs any more. */
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { rollback, ship, sql } from './sqlite-world.ts';
import { own, test } from './way-back.ts';

test('one printed line brings version and database back, and one undoes it', async ({
  world,
  database,
}) => {
  const more = ', backup: auto';
  await ship({ world, database, version: 'v1', more });
  const migrations = { '001': 'alter table orders drop column note;' };
  const done = await ship({ world, database, version: 'v2', migrations, more });
  assert.is(done.status, 0, done.stderr);
  assert.match(
    done.stderr,
    /a backup of the database: 12 KiB, about \d+\.0 s\nok +back up the database \(/,
  );
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

test('a backup of what the variable does not lead to any more stops nothing', async ({
  world,
  database,
}) => {
  const { root } = world;
  const more = ', backup: auto';
  await ship({ world, database, version: 'v1', more });
  const migrations = { '001': 'alter table orders drop column note;' };
  await ship({ world, database, version: 'v2', migrations, more });
  const [{ deploy_id: id = '' } = {}] = world.state().database_backups as { deploy_id: string }[];
  const set = ['set', 'shop', 'DATABASE_URL', '--file', '-'];
  const words = {
    [`sqlite:${database}.new`]: 'leads to another database',
    x: 'has no database URL',
  };
  for (const [stdin, why] of Object.entries(words)) {
    await run('runner-env', set, { root, stdin });
    const refused = await rollback(world, '--to', 'v1', '--database', id);
    assert.is(refused.status, 1);
    assert.match(refused.stderr, new RegExp(`migrate: DATABASE_URL ${why} now\n`));
    assert.not.match(refused.stderr, /stop default/);
  }
  assert.is(await world.page(), 'v2');
});

own.run();
