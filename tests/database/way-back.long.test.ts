/** The ways back over a migration: a backup, a version that was tried, and what no version needs any more. */
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { deployFile } from '../deploys/world.ts';
import { rollback, ship, sql, TOOL } from './sqlite-world.ts';
import { own, test } from './way-back.ts';

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

test('no job of the newer version writes while the database goes back, and none after it', async ({
  world,
  database,
}) => {
  const begun = join(world.root, 'begun');
  const write = `sqlite3 -cmd '.timeout 5000' ${database} 'insert into orders(total) values (9)'`;
  const job = (rule: string) =>
    `${rule}: { run: "while :; do ${write}; touch ${begun}.${rule}; done", every: 24h, during_deploy: ${rule} }`;
  await ship({ world, database, version: 'v1' });
  const more = `, backup: auto }\njobs: { ${job('kill')}, ${job('continue')}`;
  const migrations = { '001': 'alter table orders drop column note;' };
  await ship({ world, database, version: 'v2', migrations, more });
  const [{ deploy_id: id = '' } = {}] = world.state().database_backups as { deploy_id?: string }[];
  const runs = ['kill', 'continue'].map((name) => run('runner-jobs', ['run', 'shop', name], world));
  for (const name of ['kill', 'continue'])
    await until(() => existsSync(`${begun}.${name}`), `${name} has not begun`);
  const back = await rollback(world, '--to', 'v1', '--database', id);
  assert.is(back.status, 0, back.stderr);
  assert.match(
    back.stderr,
    /ok +end job kill [\s\S]*ok +end jobs [\s\S]*ok +stop default [\s\S]*restore the/,
  );
  assert.equal(
    (await Promise.all(runs)).map(({ status }) => status === 0),
    [false, false],
  );
  assert.is(sql(database, 'select count(*) from orders'), '1');
});

test('no job begins while the database goes back; what was due then runs after it', async ({
  world,
  database,
}) => {
  const stops = join(world.root, '..', 'stops');
  const write = `echo $RUNNER_VERSION >> ${stops}.runs; sqlite3 ${database} 'insert into orders(total) values (9)'`;
  const more = (version: string) =>
    `, backup: auto }\nstart: { type: process, run: "trap 'touch ${stops}.${version}; sleep 3; exit' TERM; while :; do sleep 0.1; done", stop_timeout: 60s }\njobs: { tick: { run: "${write}", every: 24h }`;
  const plain = (version: string, migrations = {}) =>
    ship({ world, database, version, migrations, more: more(version), starts: false });
  await plain('v1');
  assert.is((await plain('v2', { '001': 'alter table orders drop column note;' })).status, 0);
  const [{ deploy_id: id = '' } = {}] = world.state().database_backups as { deploy_id?: string }[];
  const back = rollback(world, '--to', 'v1', '--database', id);
  await until(() => existsSync(`${stops}.v2`), 'it does not stop');
  const file = join(world.root, 'apps/shop/jobs.json');
  const book = JSON.parse(readFileSync(file, 'utf8'));
  const settled = new Date(Date.now() - 86_400_000 - 60_000).toISOString();
  Object.assign(book.jobs.tick, { settled, next: settled });
  book.jobs.tick.rules.catchUp = true;
  writeFileSync(file, JSON.stringify(book));
  assert.is((await run('runner-jobs', ['run', '--due'], world)).status, 0);
  const byHand = await run('runner-jobs', ['run', 'shop', 'tick'], world);
  assert.equal([byHand.status, existsSync(`${stops}.runs`)], [75, false], byHand.stderr);
  assert.match(
    byHand.stderr,
    /a restore of the database of 'shop' has not ended: wait for its end \(locked\)/,
  );
  assert.is((await back).status, 0);
  assert.is(sql(database, 'select count(*) from orders'), '1');
  await run('runner-jobs', ['run', '--due'], world);
  await until(() => existsSync(`${stops}.runs`), 'the job does not run');
  assert.is(readFileSync(`${stops}.runs`, 'utf8'), 'v1\n');
});

test('the version before, tried on a full copy by its own check, says whether it works', async ({
  world,
  database,
}) => {
  const file = '${DATABASE_URL#sqlite:}';
  const check = (words: string) => `, rehearse: full, check: 'sqlite3 -bail "${file}" "${words}"'`;
  const writing = check('insert into orders(id, total) values (null, 1)');
  await ship({ world, database, version: 'v1', more: writing });
  const migrations = { '001': "update orders set note = 'second';" };
  // The sandbox shows the version before no other release to write to.
  const env = { RUNNER_SANDBOX: 'auto' };
  const proven = await ship({ world, database, version: 'v2', migrations, more: writing, env });
  assert.is(proven.status, 0, proven.stderr);
  assert.match(
    proven.stderr,
    /a full copy of the database: [\d.]+ KiB, about \d+\.\d s\nok +rehearse on a full copy \(/,
  );
  assert.match(
    proven.stderr,
    /the version before was tried on a copy and works with it; for older ones: changes rows of orders\n/,
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
  const text = 'alter table orders add column paid text; alter table orders drop column note;';
  const reading = { ...migrations, '002': text };
  const missed = await ship({ world, database, version: 'v3', migrations: reading, more });
  assert.match(
    missed.stderr,
    /a version from before does not work with it: removes column orders\.note; the check of the version before still passes\n/,
  );
  assert.is(world.events().at(-1)?.migration, 'broken');
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
    const done = await world.launch(version, { deploy: of, files });
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
  const ran = () => world.events().filter(({ event_type: kind }) => kind === 'ContractRun');
  assert.equal(
    ran().map(({ version, deploy_id }) => [version, deploy_id]),
    [['v2', null]],
  );
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
  sql(database, 'alter table orders add column note text');
  const { root } = world;
  appendFileSync(
    join(root, 'config.yml'),
    'require_approval: { shop: { contract: 1, by: [root] } }\n',
  );
  const refused = await run('runner-contract', ['shop'], { root });
  assert.is(refused.status, 1);
  assert.match(refused.stderr, /needs an approval: run runner plan contract shop, then/);
  const planned = await run('runner-plan', ['contract', 'shop', '--json'], { root });
  const { id, summary } = JSON.parse(planned.stdout);
  assert.match(
    summary.database,
    /^runs sqlite3 .*: what only versions before v4 needed is removed$/,
  );
  assert.is((await run('runner-approve', [id, '--no-apply'], { root })).status, 0);
  const applied = await run('runner-apply', [id], { root });
  assert.is(applied.status, 0, applied.stderr);
  assert.match(
    applied.stdout,
    /^Done: contract of v4 of shop\nTo restore what was before: runner rollback shop --to v5 --database \S+-contract\n$/,
  );
  assert.is(columns(), 'id,total');
  const nothing = await run('runner-contract', ['shop'], { root });
  assert.equal(
    [nothing.status, nothing.stdout],
    [0, 'Nothing to do for shop: the contract of v5 waits until v4 is not kept any more\n'],
  );
  const last = ran().at(-1);
  assert.equal([last?.version, last?.plan, last?.approved_by], ['v4', id, ['root']]);
  // A backup from after it has it, one from before has it not.
  const backups = /--database (\S+)-contract/.exec(applied.stdout)?.[1];
  const restored = await rollback(world, '--to', 'v4', '--database', `${backups}-contract`);
  assert.is(restored.status, 0, restored.stderr);
  assert.is(columns(), 'id,total,note');
  const [, after = ''] =
    /runner rollback shop --to v5 --database (\S+)/.exec(restored.stdout) ?? [];
  const again = await rollback(world, '--to', 'v5', '--database', after);
  assert.is(again.status, 0, `${again.stderr}${restored.stdout}${restored.stderr}`);
  const waits = await run('runner-contract', ['shop'], { root });
  assert.match(waits.stdout, 'Nothing to do for shop: the contract of v5 waits until v4');
  // An emergency is not one for what cannot be taken back.
  const deploy = deployFile(world.port, `keep: 2\nmigrate: { run: sh migrate.sh${more} }\n`);
  const of = deploy.replace('env: { ', `env: { DATABASE_URL: "sqlite:${database}", `);
  await world.push('v6', { deploy: of });
  const urgent = await world.deploy(['--emergency', 'it burns']);
  assert.is(urgent.status, 0, urgent.stderr);
  assert.match(urgent.stderr, 'contract of v5 waits for an approval: runner plan contract shop');
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
  const unfit = `v1 does not work with the database that v2 has changed: removes column orders.note; to restore what was before: runner rollback shop --to v1 --database ${id}`;
  assert.match(failed.stdout, `v1 is active. ${unfit}.\n`);
  assert.match(String(world.events().at(-1)?.reason), unfit);
  const status = await run('runner-status', ['shop'], { root: world.root });
  assert.match(status.stdout.replace(/\s+/g, ' '), `database: ${unfit}`);
  const back = await rollback(world, '--to', 'v1', '--database', id);
  assert.is(back.status, 0, back.stderr);
  assert.equal([await world.page(), sql(database, 'select * from orders')], ['v1', '1|first|10']);
  const fetched = await run('runner-fetch', ['--deploy'], { root: world.root });
  assert.match(fetched.stdout, 'shop: on hold: v2 was rolled back');
  assert.equal([await world.page(), sql(database, 'select * from orders')], ['v1', '1|first|10']);
});

test('a clock that was set back changes nothing of what a rollback meets', async ({
  world,
  database,
}) => {
  const more = ', backup: auto';
  await ship({ world, database, version: 'v1', more });
  // Its clock was an hour fast.
  const path = join(world.root, 'state/shop.json');
  const state = JSON.parse(readFileSync(path, 'utf8'));
  const { current } = state.instances.default;
  const fast = Date.now() + 3_600_000;
  Object.assign(current, { deployed_at: new Date(fast).toISOString(), order: fast });
  writeFileSync(path, JSON.stringify(state), { mode: 0o600 });
  const migrations = { '001': 'alter table orders drop column note;' };
  const done = await ship({ world, database, version: 'v2', migrations, more });
  assert.is(done.status, 0, done.stderr);
  const refused = await rollback(world);
  assert.is(refused.status, 1);
  const [, id = ''] =
    /v1 does not work with the database that v2 has changed: .*--to v1 --database ([0-9a-f]{8})/.exec(
      refused.stderr,
    ) ?? [];
  const back = await rollback(world, '--to', 'v1', '--database', id);
  assert.is(back.status, 0, back.stderr);
  assert.is(sql(database, 'select * from orders'), '1|first|10');
  assert.match((await rollback(world, '--to', 'v2')).stderr, /v2 needs the migration of v2/);
});

test('the backup of a first deploy that failed is kept', async ({ world, database }) => {
  const migrations = { '001': 'alter table orders drop column note;\nselect * from nothing;' };
  const more = ', backup: auto, rehearse: false';
  const failed = await ship({ world, database, version: 'v1', migrations, more });
  assert.is(failed.status, 1);
  assert.match(failed.stderr, /ok +back up the database/);
  assert.is(readdirSync(join(world.root, 'apps/shop/database')).length, 1);
});

own.run();
