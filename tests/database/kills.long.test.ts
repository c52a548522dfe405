/**
 * Deploys that are killed at any moment while they migrate: each migration is in exactly once, and the next
 * deploy goes on without help. MIGRATE_KILLS=n changes the number.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { killApp } from '@runner/testing/app';
import { IS_WHOLE } from '@runner/testing/extent';
import { randomOf } from '@runner/testing/random';
import { run, start } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deployFile, makeWorld } from '../deploys/world.ts';

const KILLS = Number(process.env.MIGRATE_KILLS ?? (IS_WHOLE ? 100 : 12));
const own = suite('killed migrations');
const test = spawnSync('sqlite3', ['-version']).status === 0 ? own : own.skip;

/** Each migration and its note are one transaction. */
const TOOL = `set -e
file=\${DATABASE_URL#sqlite:}
for each in migrations/*.sql; do
  name=$(basename "$each" .sql)
  test -z "$(sqlite3 "$file" "select 1 from schema_migrations where version='$name'")" || continue
  sleep 0.2
  { echo '.timeout 5000'; echo 'begin;'; cat "$each"; echo "insert into schema_migrations values ('$name');"; echo 'commit;'; } | sqlite3 -bail "$file"
  sleep 0.2
done
`;
const APPLIED = `file=\${DATABASE_URL#sqlite:}
for each in migrations/*.sql; do
  test -n "$(sqlite3 "$file" "select 1 from schema_migrations where version='$(basename "$each" .sql)'")" || exit 1
done
`;

test('each migration is in exactly once, whatever was killed', async () => {
  const world = await makeWorld();
  const { root } = world;
  const database = join(root, '..', 'shop.db');
  const sql = (text: string) =>
    execFileSync('sqlite3', [database, text], { encoding: 'utf8' }).trim();
  sql('create table schema_migrations(version text); create table runs(version text);');
  const random = randomOf(5);
  const files: Record<string, string> = { 'migrate.sh': TOOL, 'applied.sh': APPLIED };
  const deploy = deployFile(
    world.port,
    'migrate: { run: sh migrate.sh, applied: sh applied.sh }\n',
  ).replace('env: { ', `env: { DATABASE_URL: "sqlite:${database}", `);
  let cut = 0;
  try {
    for (let round = 1; round <= KILLS; round += 1) {
      const name = String(round).padStart(4, '0');
      files[`migrations/${name}.sql`] =
        `insert into runs values ('${name}'); create table t${name}(a);\n`;
      await world.push(`v${round}`, { deploy, files });
      const killed = start('runner-deploy', ['shop'], { root });
      // Every second one anywhere, the others while it migrates.
      if (round % 2 === 0) await until(() => Boolean(world.state().migrating), 'no migration');
      await sleep(random() * (round % 2 === 0 ? 600 : 3_000));
      try {
        process.kill(killed.pid, 'SIGKILL');
      } catch {
        // It was faster.
      }
      await killed.done.catch(() => {});
      if (world.state().migrating) cut += 1;
      const done = await world.deploy();
      assert.is(done.status, 0, `round ${round}: ${done.stderr}`);
      assert.is(world.state().migrating ?? null, null);
      assert.is(await world.page(), `v${round}`);
      assert.is(sql('select count(*) from runs'), String(round), `round ${round}`);
      assert.is(sql('select count(distinct version) from schema_migrations'), String(round));
    }
    assert.is((await run('runner-audit', ['verify'], { root })).status, 0);
  } finally {
    killApp(root, 'shop');
    await world.close();
  }
  process.stdout.write(`(${KILLS} kills, ${cut} of them during the migration itself)\n`);
});

test('a release that is judged bad stays if the version before does not work with its database', async () => {
  const world = await makeWorld();
  const { root } = world;
  const database = join(root, '..', 'shop.db');
  const sql = (text: string) =>
    execFileSync('sqlite3', [database, text], { encoding: 'utf8' }).trim();
  sql('create table schema_migrations(version text); create table orders(id int, note text);');
  const ship = async (version: string, migration: string, more: string) => {
    const deploy = deployFile(world.port, `migrate: sh migrate.sh\n${more}`);
    await world.launch(version, {
      deploy: deploy.replace('env: { ', `env: { DATABASE_URL: "sqlite:${database}", `),
      files: { 'migrate.sh': TOOL, [`migrations/${version}.sql`]: migration },
    });
  };
  try {
    await ship('v1', 'select 1;\n', '');
    await ship('v2', 'alter table orders drop column note;\n', 'watch: { for: 5m, run: exit 3 }\n');
    await until(() => !world.state().watch, 'the watch does not end');
    assert.is(await world.page(), 'v2');
    assert.equal(world.kinds().slice(-2), ['DeploySuccess', 'WatchFailed']);
    const [log] = readdirSync(join(root, 'logs/deploys/shop'))
      .map((name) => readFileSync(join(root, 'logs/deploys/shop', name), 'utf8'))
      .filter((text) => text.includes(' stays: '));
    assert.match(
      String(log),
      /v2 stays: v1 does not work with the database that v2 has changed: removes column orders\.note/,
    );
  } finally {
    killApp(root, 'shop');
    await world.close();
  }
});

own.run();
