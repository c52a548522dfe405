/** What is approved of a rollback is also what becomes of the database. */
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, start } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { rollback, ship, sql, sqliteSuite, TOOL } from '../database/sqlite-world.ts';

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
  // Of the active commit, a rollback would go further back.
  const same = await run('runner-plan', ['deploy', 'shop'], { root });
  assert.match(same.stdout, /undo: +none: each instance has the same commit before and after\n/);
  const useless = await plan();
  assert.is(useless.status, 1);
  const [, backup = ''] =
    /problem: +v1 does not work .+; to restore what was before: runner rollback shop --to v1 --database ([0-9a-f]{8});/.exec(
      useless.stdout,
    ) ?? [];
  assert.is.not(backup, '', useless.stdout);
  assert.match(useless.stdout, /\ncannot be applied: it has a problem\n/);
  await approve(idOf(useless.stdout));
  assert.not.match((await run('runner-plan', ['list'], { root })).stdout, /rollback .*ready/);
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

test('a killed migration is answered with a plan where deploys need approvals', async ({
  world,
  database,
}) => {
  const { root } = world;
  const more = ', rehearse: false';
  await ship({ world, database, version: 'v1', more });
  appendFileSync(
    join(root, 'config.yml'),
    'require_approval: { shop: { deploy: 1, by: [root] } }\n',
  );
  const killed = 'update orders set total = total + 1;\n.shell kill -9 $PPID\n';
  const migrations = { '001': killed };
  const args = ['--emergency', 'it must run'];
  const cut = await ship({ world, database, version: 'v2', migrations, more, args });
  const ways = /look into the database, then runner plan deploy shop --migrated yes\|no/;
  assert.match(cut.stderr, ways);
  const runner = (tool: string, ...given: string[]) => run(`runner-${tool}`, given, { root });
  const idOf = (text: string) => /p-[0-9a-f]{8}/.exec(text)?.[0] ?? '';
  const asked = async () => [
    JSON.parse((await runner('status', 'shop', '--json')).stdout).next,
    JSON.parse((await runner('why', 'shop', '--json')).stdout).commands.at(-1),
  ];
  const plain = await runner('plan', 'deploy', 'shop');
  assert.is(plain.status, 1);
  assert.match(plain.stdout, new RegExp(`problem: .*${ways.source}`));
  // No plan is made that cannot be applied.
  const fetched = await runner('fetch', '--deploy');
  assert.match(fetched.stdout, new RegExp(`v2 waits: the migration of v2 .*${ways.source}`));
  assert.not.match(fetched.stdout, /p-[0-9a-f]{8}/);
  const [next, typed] = await asked();
  assert.match(next, ways);
  assert.is(typed, 'runner plan deploy shop --migrated yes|no');
  const refused = await world.deploy(['--migrated', 'yes']);
  assert.match(refused.stderr, 'run runner plan deploy shop --migrated yes, then someone else');
  const planned = await runner('plan', 'deploy', 'shop', '--migrated', 'yes');
  assert.is(planned.status, 0, planned.stdout);
  assert.match(planned.stdout, /answers: +the killed migration is in the database: yes\n/);
  const id = idOf(planned.stdout);
  assert.match((await runner('fetch', '--deploy')).stdout, `v2 waits for approval ${id}`);
  assert.equal(
    [(await asked())[0].startsWith(`v2 waits for approval ${id}`), (await asked())[1]],
    [true, `runner approve ${id}`],
  );
  await runner('approve', id, '--no-apply');
  const other = await world.deploy(['--plan', id, '--migrated', 'no']);
  assert.match(other.stderr, 'is a plan of another command');
  const done = await runner('apply', id);
  assert.is(done.status, 0, done.stderr);
  assert.equal([await world.page(), sql(database, 'select total from orders')], ['v2', '11']);
  const late = await runner('plan', 'deploy', 'shop', '--migrated', 'yes');
  assert.is(late.status, 2);
  assert.match(late.stderr, 'none of shop was');
});

test('a plan made before the clean-up of a killed apply answers for its migration', async ({
  world,
  database,
}) => {
  const { root } = world;
  const more = ', rehearse: false';
  await ship({ world, database, version: 'v1', more });
  appendFileSync(
    join(root, 'config.yml'),
    'require_approval: { shop: { deploy: 1, by: [root] } }\n',
  );
  const [there, go] = [`${root}/../there`, `${root}/../go`];
  const hold = `.shell touch ${there}; until test -e ${go}; do sleep 0.05; done\n`;
  const migrations = { '001': `alter table orders add column paid text;\n${hold}` };
  await ship({ world, database, version: 'v2', migrations, more });
  const runner = (tool: string, ...given: string[]) => run(`runner-${tool}`, given, { root });
  const planned = async (...given: string[]) => {
    const { stdout } = await runner('plan', 'deploy', 'shop', ...given);
    const id = /p-[0-9a-f]{8}/.exec(stdout)?.[0] ?? '';
    await runner('approve', id, '--no-apply');
    return id;
  };
  const first = start('runner-apply', [await planned()], { root });
  await until(() => existsSync(there), 'the migration does not begin');
  process.kill((world.state().deploying as { pid: number }).pid, 'SIGKILL');
  await first.done;
  writeFileSync(go, '');
  const done = await runner('apply', await planned('--migrated', 'yes'));
  assert.is(done.status, 0, done.stderr);
  assert.is(await world.page(), 'v2');
});

test('what goes back anyway after a plan for one instance leaves the other one', async ({
  world,
  database,
}) => {
  const { root } = world;
  const address = `env: { DATABASE_URL: "sqlite:${database}" }`;
  const deploy = `instances: { a: { ${address} }, b: { ${address} } }
start: { type: process, run: exec sleep 600 }
migrate: { run: sh migrate.sh, rehearse: false }
`;
  const files = { 'migrate.sh': TOOL, 'migrations/000.sql': 'select 1;\n' };
  await world.launch('v1', { deploy, files });
  const drop = { 'migrations/001.sql': 'alter table orders drop column note;' };
  await world.push('v2', { deploy, files: { ...files, ...drop } });
  await world.deploy(['--instance', 'b']);
  const plan = async (verb: string, instance: string) => {
    const { stdout } = await run('runner-plan', [verb, 'shop', '--instance', instance], { root });
    return stdout;
  };
  const anyway = /anyway: runner rollback shop --accept-schema v1 --instance a\n/;
  assert.match(await plan('deploy', 'a'), anyway);
  await world.deploy(['--instance', 'a']);
  assert.match(await plan('rollback', 'a'), anyway);
  await rollback(world, '--accept-schema', 'v1', '--instance', 'a');
  const { instances } = world.state() as { instances: Record<string, { current: object }> };
  const runs = Object.values(instances).map(
    ({ current }) => 'version' in current && current.version,
  );
  assert.equal(runs, ['v1', 'v2']);
});

own.run();
