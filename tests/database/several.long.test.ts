/** The database of an app with several instances: its contract, and its way back. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { sql, sqliteSuite, TOOL } from './sqlite-world.ts';

const { test, run: runAll } = sqliteSuite('several instances');

test('of several instances a contract runs once, and a plan says that it may follow', async ({
  world,
  database,
}) => {
  const { root } = world;
  const launch = (version: string, more: string) => {
    const web = `web: { env: { DATABASE_URL: "sqlite:${database}" } }`;
    const migrate = `migrate: { run: sh migrate.sh, rehearse: false${more} }`;
    const deploy = `instances: { ${web}, api: {} }\nkeep: 2\n${migrate}\n`;
    const files = { 'migrate.sh': TOOL, 'migrations/000.sql': 'select 1;\n' };
    return world.launch(version, { deploy, files });
  };
  const contract = `, contract: 'sqlite3 -bail "${database}" "alter table orders drop column note"'`;
  // The instance that has no database is the older one.
  await world.launch('v1', { deploy: 'instances: { api: {} }\nkeep: 2\n' });
  await launch('v2', contract);
  const config = join(root, 'config.yml');
  const plain = readFileSync(config, 'utf8');
  writeFileSync(config, `${plain}require_approval: { shop: { contract: 2, by: [root, ada] } }\n`);
  const planned = await run('runner-plan', ['deploy', 'shop', '--json'], { root });
  const { summary, needs } = JSON.parse(planned.stdout);
  assert.equal([summary.contract, needs.count], [true, 2]);
  writeFileSync(config, plain);
  assert.match((await launch('v3', contract)).stderr, /ok +contract of v2: /);
  const nothing = await run('runner-contract', ['shop'], { root });
  assert.is(
    nothing.stdout,
    'Nothing to do for shop: the contract of v3 waits until v2 is not kept any more\n',
  );
});

test('a rollback that fails puts the database back, which only one of the instances knows', async ({
  world,
  database,
}) => {
  const { root } = world;
  const launch = (version: string, run: string, migration: string) => {
    const env = `env: { DATABASE_URL: "sqlite:${database}" }`;
    const deploy = `instances: { web: { ${env} }, worker: {} }
start: { type: process, run: "${run}" }
migrate: { run: sh migrate.sh, backup: auto, rehearse: false }
`;
    const files = { 'migrate.sh': TOOL, [`migrations/${version}.sql`]: migration };
    return world.launch(version, { deploy, files });
  };
  const flag = join(root, 'broken');
  await launch('v1', `test ! -e ${flag} && exec sleep 1000`, 'select 1;\n');
  const done = await launch('v2', 'exec sleep 1000', 'alter table orders drop column note;\n');
  const [, id = ''] = /\[([0-9a-f]{8})\]/.exec(done.stdout) ?? [];
  const columns = () => sql(database, "select group_concat(name) from pragma_table_info('orders')");
  const before = columns();
  writeFileSync(flag, '');
  const failed = await run('runner-rollback', ['shop', '--to', 'v1', '--database', id], { root });
  assert.is(failed.status, 1, failed.stdout + failed.stderr);
  assert.match(failed.stdout, /v2 is active as before/);
  assert.is(columns(), before);
});

test('a rollback with the database starts again what stays at its version and works with it', async ({
  world,
  database,
}) => {
  const { root } = world;
  const launch = async (version: string, migration: string, names: string[], only = names) => {
    const env = `env: { DATABASE_URL: "sqlite:${database}" }`;
    const deploy = `instances: { ${names.map((name) => `${name}: { ${env} }`).join(', ')} }
start: { type: process, run: exec sleep 1000 }
migrate: { run: sh migrate.sh, backup: auto, rehearse: false }
`;
    const files = { 'migrate.sh': TOOL, [`migrations/${version}.sql`]: migration };
    await world.push(version, { deploy, files });
    return world.deploy(only === names ? [] : ['--instance', ...only]);
  };
  const names = ['web', 'worker'];
  await launch('v1', 'select 1;\n', names);
  const breaking = 'alter table orders drop column note;\n';
  const done = await launch('v2', breaking, names, ['web']);
  await launch('v3', 'select 1;\n', [...names, 'mail'], ['mail']);
  const [, id = ''] = /\[([0-9a-f]{8})\]/.exec(done.stdout) ?? [];
  const back = await run('runner-rollback', ['shop', '--to', 'v1', '--database', id], { root });
  assert.is(back.status, 0, back.stderr);
  const stopped = /mail is stopped, and stays so: v3 needs the migration of v2, which a restore /;
  assert.match(back.stderr, stopped);
  assert.match(back.stderr, /worker is not broken: it stays at v1/);
  const status = await run('runner-status', ['shop', '--json'], { root });
  const { instances } = JSON.parse(status.stdout);
  type Seen = { instance: string; current: { version: string }; running: boolean };
  const seen = instances.map(({ instance, current, running }: Seen) => [
    instance,
    current.version,
    running,
  ]);
  assert.equal(seen, [
    ['web', 'v1', true],
    ['worker', 'v1', true],
    ['mail', 'v3', false],
  ]);
});

test('what was started again is stopped before the database is put back', async ({
  world,
  database,
}) => {
  const { root } = world;
  const [flag, seen] = [join(root, 'flag'), join(root, 'seen')];
  const columns = "select group_concat(name) from pragma_table_info('orders')";
  // It is well again once it has been stopped with the restored database.
  const app = `at_end() {
  sqlite3 ${database} "${columns}" | tee -a ${seen} | grep -q note && rm -f ${flag}
  exit 0
}
trap at_end TERM
while sleep 0.05; do :; done
`;
  const launch = (version: string, migration: string) => {
    const own = `{ env: { DATABASE_URL: "sqlite:${database}" } }`;
    const deploy = `instances: { web: ${own}, worker: ${own} }
start: { type: process, run: "if test $RUNNER_INSTANCE = worker; then . ./app.sh; fi; exec sleep 1000" }
health: { cmd: "test $RUNNER_INSTANCE = web || test ! -e ${flag}", interval: 50ms, within: 500ms }
migrate: { run: sh migrate.sh, backup: auto, rehearse: false }
`;
    const files = { 'app.sh': app, 'migrate.sh': TOOL, [`migrations/${version}.sql`]: migration };
    return world.launch(version, { deploy, files });
  };
  await launch('v1', 'select 1;\n');
  const done = await launch('v2', 'alter table orders drop column note;\n');
  const [, id = ''] = /\[([0-9a-f]{8})\]/.exec(done.stdout) ?? [];
  const back = (...args: string[]) => run('runner-rollback', ['shop', ...args], { root });
  assert.is((await back('--instance', 'worker', '--accept-schema', 'v1')).status, 0);
  writeFileSync(flag, '');
  writeFileSync(seen, '');
  const failed = await back('--to', 'v1', '--database', id);
  assert.is(failed.status, 1, failed.stdout + failed.stderr);
  assert.is(readFileSync(seen, 'utf8'), 'id,total\nid,note,total\n');
  assert.is(sql(database, columns), 'id,total');
});

runAll();
