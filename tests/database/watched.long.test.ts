/** A release that is bad stays if the version before does not work with its database. */
import { run } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { deployFile } from '../deploys/world.ts';
import { ship, sqliteSuite, TOOL } from './sqlite-world.ts';

const own = sqliteSuite('watched migrations');
const { test } = own;

test('the record and the status of a bad watch say that the database keeps the release, and the way out', async ({
  world,
  database,
}) => {
  await ship({ world, database, version: 'v1' });
  const deploy = deployFile(
    world.port,
    'migrate: { run: sh migrate.sh, backup: auto }\nwatch: { for: 5m, run: exit 4 }\n',
  ).replace('env: { ', `env: { DATABASE_URL: "sqlite:${database}", `);
  const text = 'alter table orders drop column note;\n';
  await world.launch('v2', { deploy, files: { 'migrate.sh': TOOL, 'migrations/001.sql': text } });
  await until(() => !world.state().watch, 'the watch does not end');
  const why =
    /failed: ended with status 4; v2 stays: v1 does not work with the database that v2 has changed: removes column orders\.note; to restore what was before: runner rollback shop --to v1 --database [0-9a-f]{8}$/;
  const failed = world.events().find(({ event_type: kind }) => kind === 'WatchFailed');
  assert.match(String(failed?.reason), why);
  const { stdout } = await run('runner-status', ['shop', '--json'], { root: world.root });
  assert.match(JSON.parse(stdout).watched.reason, why);
  assert.is(await world.page(), 'v2');
});

own.run();
