/** Two apps that use one database: what one of them migrates or restores concerns the other. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, killApp } from '@runner/testing/app';
import { run, start } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { REPO, TOKEN } from '../deploys/world.ts';
import { rollback, ship, sql, sqliteSuite } from './sqlite-world.ts';

const own = sqliteSuite('sharing');
const { test } = own;

test('a rollback counts what the other app has migrated, and a restore waits until it is stopped', async ({
  world,
  database,
}) => {
  const { root } = world;
  const more = ', backup: auto';
  const add = ['--repo', REPO, '--branch', 'main', '--name', 'two', '--token', '-'];
  await ship({ world, database, version: 'v1', more });
  assert.is((await run('runner-add', add, { root, stdin: TOKEN })).status, 0);
  const port = await freePort();
  const two = async (version: string, migrations: Record<string, string>) => {
    const deploy = () => run('runner-deploy', ['two'], { root });
    const done = await ship({
      world: { ...world, port, deploy },
      database,
      version,
      migrations,
      more,
    });
    assert.is(done.status, 0, done.stderr);
  };
  try {
    await two('w1', {});
    const added = { '001': 'alter table orders add column paid text;' };
    await ship({ world, database, version: 'v2', migrations: added, more });
    await two('w2', { ...added, '002': 'alter table orders drop column note;' });
    const refused = await rollback(world);
    assert.match(
      refused.stderr,
      /v1 does not work with the database that w2 of two has changed: removes column orders\.note; to restore what was before: runner rollback shop --to v1 --database [0-9a-f]{8}; to go back anyway: runner rollback shop --accept-schema v1 \(schema_changed\)/,
    );
    const id = (world.state().database_backups as { deploy_id: string }[]).at(-1)?.deploy_id ?? '';
    const running = await rollback(world, '--to', 'v1', '--database', id);
    assert.is(running.status, 1);
    assert.match(
      running.stderr,
      /^runner rollback: the restore would also take away what two wrote into this database since; stop it first: runner stop two \(database_in_use\)\n$/,
    );
    assert.is(sql(database, 'select paid is null from orders'), '1');
    assert.is((await run('runner-stop', ['two'], { root })).status, 0);
    const back = await rollback(world, '--to', 'v1', '--database', id);
    assert.is(back.status, 0, back.stderr);
    assert.match(
      back.stderr,
      /two uses this database, too: its migrations since are gone: runner deploy two\n/,
    );
    assert.is(sql(database, 'select * from orders'), '1|first|10');
    const { stdout } = await run('runner-status', ['two'], { root });
    assert.not.match(stdout, /migrated by w2/);
    const [, undo = ''] = /undo this: runner rollback shop (.+)\n/.exec(back.stdout) ?? [];
    assert.is((await rollback(world, ...undo.split(' '))).status, 0);
    assert.match((await run('runner-status', ['two'], { root })).stdout, /migrated by w2/);
  } finally {
    killApp(root, 'two');
  }
});

test('a restore waits until an app that has only jobs is stopped, and its job is over', async ({
  world,
  database,
}) => {
  const { root } = world;
  const more = ', backup: auto';
  await ship({ world, database, version: 'v1', more });
  const drop = { '001': 'alter table orders drop column note;' };
  await ship({ world, database, version: 'v2', migrations: drop, more });
  const add = ['--repo', REPO, '--branch', 'main', '--name', 'two', '--token', '-'];
  assert.is((await run('runner-add', add, { root, stdin: TOKEN })).status, 0);
  const env = `instances: { default: { env: { DATABASE_URL: "sqlite:${database}" } } }`;
  await world.push('w1', { deploy: `${env}\njobs: { sync: { run: "sleep 600", every: 1h } }\n` });
  assert.is((await run('runner-deploy', ['two'], { root })).status, 0);
  const [{ deploy_id: id = '' } = {}] = world.state().database_backups as { deploy_id?: string }[];
  const running = await rollback(world, '--to', 'v1', '--database', id);
  assert.match(running.stderr, /stop it first: runner stop two \(database_in_use\)\n$/);
  const job = start('runner-jobs', ['run', 'two', 'sync'], { root });
  const begun = () => /"version":"/.test(readFileSync(join(root, 'apps/two/jobs.json'), 'utf8'));
  await until(begun, 'the job does not begin');
  assert.is((await run('runner-stop', ['two'], { root })).status, 0);
  const beside = await rollback(world, '--to', 'v1', '--database', id);
  assert.match(
    beside.stderr,
    /job sync of 'two' still runs, and uses this database: wait for its end/,
  );
  job.kill('SIGTERM');
  await job.done;
  const back = await rollback(world, '--to', 'v1', '--database', id);
  assert.is(back.status, 0, back.stderr);
});

test('a stopped app does not start, and no job of it, while another restores its database, or was killed meanwhile', async ({
  world,
  database,
}) => {
  const { root } = world;
  const stops = join(root, '..', 'stops');
  const more = `, backup: auto }\nstart: { type: process, run: "trap 'touch ${stops}; sleep 9; exit' TERM; while :; do sleep 0.1; done", stop_timeout: 60s`;
  const drop = { '001': 'alter table orders drop column note;' };
  await ship({ world, database, version: 'v1', more, starts: false });
  await ship({ world, database, version: 'v2', migrations: drop, more, starts: false });
  const add = ['--repo', REPO, '--branch', 'main', '--name', 'two', '--token', '-'];
  assert.is((await run('runner-add', add, { root, stdin: TOKEN })).status, 0);
  const env = `instances: { default: { env: { DATABASE_URL: "sqlite:${database}" } } }`;
  const add9 = `sqlite3 ${database} 'insert into orders(total) values (9)'`;
  await world.push('w1', { deploy: `${env}\njobs: { sync: { run: "${add9}", every: 1h } }\n` });
  assert.is((await run('runner-deploy', ['two'], { root })).status, 0);
  assert.is((await run('runner-stop', ['two'], { root })).status, 0);
  const [{ deploy_id: id = '' } = {}] = world.state().database_backups as { deploy_id?: string }[];
  const job = () => run('runner-jobs', ['run', 'two', 'sync'], { root });
  rmSync(stops);
  const back = start('runner-rollback', ['shop', '--to', 'v1', '--database', id], { root });
  await until(() => existsSync(stops), 'it does not stop');
  const beside = await job();
  assert.equal(
    [beside.status, beside.stderr],
    [
      75,
      "runner jobs run: a restore of the database of 'shop' has not ended: wait for its end (locked)\n",
    ],
  );
  const starting = await run('runner-start', ['two'], { root });
  assert.equal(
    [starting.status, starting.stderr.includes('wait for its end (locked)')],
    [75, true],
  );
  process.kill(back.pid, 'SIGKILL');
  await back.done;
  assert.match(
    (await job()).stderr,
    /of 'shop' was killed: the next deploy, rollback or fetch --deploy cleans up first \(locked\)/,
  );
  assert.is((await rollback(world, '--to', 'v1', '--database', id)).status, 0);
  assert.is((await job()).status, 0);
  assert.is((await run('runner-start', ['two'], { root })).status, 0);
  assert.is(sql(database, 'select count(*) from orders'), '2');
});

test('a restore does not begin while a stopped app that shares the database is deployed', async ({
  world,
  database,
}) => {
  const { root } = world;
  const drop = { '001': 'alter table orders drop column note;' };
  await ship({ world, database, version: 'v1', more: ', backup: auto', starts: false });
  await ship({
    world,
    database,
    version: 'v2',
    migrations: drop,
    more: ', backup: auto',
    starts: false,
  });
  const add = ['--repo', REPO, '--branch', 'main', '--name', 'two', '--token', '-'];
  assert.is((await run('runner-add', add, { root, stdin: TOKEN })).status, 0);
  const builds = join(root, '..', 'builds');
  const deploy = `instances: { default: { env: { DATABASE_URL: "sqlite:${database}" } } }
start: { type: process, run: "while :; do sleep 0.1; done" }
`;
  await world.push('w1', { deploy });
  assert.is((await run('runner-deploy', ['two'], { root })).status, 0);
  try {
    assert.is((await run('runner-stop', ['two'], { root })).status, 0);
    await world.push('w2', { deploy: `${deploy}build: [touch ${builds}; sleep 4]\n` });
    const two = start('runner-deploy', ['two'], { root });
    await until(() => existsSync(builds), 'it does not build');
    const [{ deploy_id: id = '' } = {}] = world.state().database_backups as {
      deploy_id?: string;
    }[];
    const refused = await rollback(world, '--to', 'v1', '--database', id);
    assert.equal(
      [refused.status, refused.stderr],
      [
        1,
        "runner rollback: deploy of 'two' may start it, and it uses this database: wait for its end (database_in_use)\n",
      ],
    );
    assert.is((await two.done).status, 0);
    assert.is((await run('runner-stop', ['two'], { root })).status, 0);
    rmSync(builds);
    await world.push('w3', { deploy: deploy.replace('while', `touch ${builds}; while`) });
    const killed = start('runner-deploy', ['two'], { root });
    await until(() => existsSync(builds), 'it does not start');
    process.kill(killed.pid, 'SIGKILL');
    await killed.done;
    assert.match(
      (await rollback(world, '--to', 'v1', '--database', id)).stderr,
      /begun of 'two', which uses this database, was killed: the next deploy, .* cleans up first \(database_in_use\)\n$/,
    );
  } finally {
    // Also ends what the killed deploy had started, and had not noted yet.
    await run('runner-stop', ['two'], { root });
  }
});

test('an app is not charged with what the other app has migrated', async ({ world, database }) => {
  const { root } = world;
  const add = ['--repo', REPO, '--branch', 'main', '--name', 'two', '--token', '-'];
  await ship({ world, database, version: 'v1' });
  assert.is((await run('runner-add', add, { root, stdin: TOKEN })).status, 0);
  const port = await freePort();
  const deploy = () => run('runner-deploy', ['two'], { root });
  const two = (version: string, migrations: Record<string, string>) =>
    ship({ world: { ...world, port, deploy }, database, version, migrations });
  try {
    await two('w1', {});
    const drop = { '001': 'alter table orders drop column note;' };
    assert.match((await two('w2', drop)).stderr, /removes column orders\.note/);
    const done = await ship({ world, database, version: 'v2' });
    assert.is(done.status, 0, done.stderr);
    assert.not.match(done.stderr, /the database (has|may have) changed/);
    assert.is(world.events().at(-1)?.migration, undefined);
    assert.match(
      (await rollback(world)).stderr,
      /: v1 does not work with the database that w2 of two has changed: removes column orders\.note; to/,
    );
    // By hand.
    sql(database, 'alter table orders drop column total');
    const later = await ship({ world, database, version: 'v3' });
    assert.match(later.stderr, /does not work with it: removes column orders\.total\n/);
  } finally {
    killApp(root, 'two');
  }
});

own.run();
