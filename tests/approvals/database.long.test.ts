/** What is approved of a rollback is also what becomes of the database. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { rollback, ship, sql, sqliteSuite } from '../database/sqlite-world.ts';

const own = sqliteSuite('approved rollbacks');
const { test } = own;

test('a plan binds the backup that is restored, and one over a broken migration is not ready', async ({
  world,
  database,
}) => {
  const { root } = world;
  const more = ', backup: auto';
  await ship({ world, database, version: 'v1', more });
  const migrations = { '001': 'alter table orders drop column note;' };
  await ship({ world, database, version: 'v2', migrations, more });
  appendFileSync(
    join(root, 'config.yml'),
    'require_approval: { shop: { rollback: 1, by: [root] } }\n',
  );
  const plan = (...args: string[]) =>
    run('runner-plan', ['rollback', 'shop', '--to', 'v1', ...args], { root });
  const idOf = (text: string) => /\[(p-[0-9a-f]{8})\]/.exec(text)?.[1] ?? '';
  const approve = (id: string) => run('runner-approve', [id, '--no-apply'], { root });
  const useless = await plan();
  assert.is(useless.status, 1);
  const [, backup = ''] =
    /problem: +v1 does not work .+; to restore what was before: runner rollback shop --to v1 --database ([0-9a-f]{8});/.exec(
      useless.stdout,
    ) ?? [];
  assert.is.not(backup, '', useless.stdout);
  assert.match(useless.stdout, /\ncannot be applied: it has a problem\n/);
  await approve(idOf(useless.stdout));
  assert.not.match((await run('runner-plan', ['list'], { root })).stdout, /ready/);
  for (const other of [
    ['--database', backup],
    ['--accept-schema', 'v1'],
  ]) {
    const done = await rollback(world, '--to', 'v1', ...other, '--plan', idOf(useless.stdout));
    assert.is(done.status, 1);
    assert.match(done.stderr, /p-[0-9a-f]{8} is a plan of another command: .+ \(plan_changed\)/);
  }
  const wrong = await plan('--accept-schema', 'v9');
  assert.is(wrong.status, 1);
  assert.match(
    wrong.stderr,
    /--accept-schema v9 is not the version that this goes to: v1 \(version_not_found\)/,
  );
  const accepting = await plan('--accept-schema', 'v1');
  assert.is(accepting.status, 0);
  assert.match(accepting.stdout, /accepts: +the database as it is, for v1\n/);
  const restoring = await plan('--database', backup);
  assert.is(restoring.status, 0, restoring.stdout);
  assert.match(
    restoring.stdout,
    new RegExp(`database: +replaced by its backup ${backup} as of .+Z: what was written since is`),
  );
  await approve(idOf(restoring.stdout));
  const done = await run('runner-apply', [idOf(restoring.stdout)], { root });
  assert.is(done.status, 0, done.stderr);
  assert.equal([await world.page(), sql(database, 'select * from orders')], ['v1', '1|first|10']);
});

test('a plan says when no backup is made before the migration', async ({ world, database }) => {
  await ship({ world, database, version: 'v1' });
  const { status, stdout } = await run('runner-plan', ['deploy', 'shop'], { root: world.root });
  assert.is(status, 0);
  assert.match(stdout, /database: +runs .+, tried on .+, without a backup\n/);
});

own.run();
