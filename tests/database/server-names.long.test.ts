/** localhost, 127.0.0.1 and ::1 are one server; what was kept by another of these names is found again. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, killApp } from '@runner/testing/app';
import { startPostgres } from '@runner/testing/databases';
import { run } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deployFile, makeWorld, REPO, TOKEN } from '../deploys/world.ts';
import { TOOL } from './tool.ts';

const test = suite('names of a database server');

const MIGRATED = 'migrate: { run: node migrate.js, backup: auto }\n';
const CREATE = 'create table orders(id int);';
const DROP = 'drop table orders;';

const printOf = (host: string, port: string) =>
  createHash('sha256').update(`postgres\0${host}\0${port}\0shop`).digest('hex').slice(0, 16);

test('a backup that was made when the fingerprint was that of another name brings the database back', async () => {
  const databases = await startPostgres();
  if (!databases) return;
  const world = await makeWorld();
  const { root } = world;
  databases.create('shop');
  const url = databases.url('shop');
  const { port } = new URL(url);
  const set = async (app: string, value: string) => {
    const args = ['set', app, 'DATABASE_URL', '--file', '-'];
    assert.is((await run('runner-env', args, { root, stdin: value })).status, 0);
  };
  const push = (version: string, at: number, ...migrations: string[]) => {
    const files = migrations.map((text, index) => [`migrations/${index}.sql`, text]);
    const deploy = deployFile(at, MIGRATED);
    return world.push(version, {
      deploy,
      files: { 'migrate.js': TOOL, ...Object.fromEntries(files) },
    });
  };
  try {
    await set('shop', url);
    for (const migrations of [[CREATE], [CREATE, DROP]]) {
      await push(`v${migrations.length}`, world.port, ...migrations);
      const done = await world.deploy();
      assert.is(done.status, 0, done.stderr);
    }
    const [{ deploy_id: id = '', database = '' } = {}] = world.state().database_backups as {
      deploy_id?: string;
      database?: string;
    }[];
    const add = ['--repo', REPO, '--branch', 'main', '--name', 'two', '--token', '-'];
    assert.is((await run('runner-add', add, { root, stdin: TOKEN })).status, 0);
    await set('two', url.replace('127.0.0.1', 'localhost'));
    await push('w1', await freePort(), CREATE, DROP);
    const two = await run('runner-deploy', ['two'], { root });
    assert.is(two.status, 0, two.stderr);
    const back = ['shop', '--to', 'v1', '--database', id];
    assert.match((await run('runner-rollback', back, { root })).stderr, /runner stop two/);
    assert.is((await run('runner-stop', ['two'], { root })).status, 0);
    for (const app of ['shop', 'two']) {
      const path = join(root, `state/${app}.json`);
      const before = readFileSync(path, 'utf8').replaceAll(database, printOf('127.0.0.1', port));
      writeFileSync(path, before);
    }
    const restored = await run('runner-rollback', back, { root });
    assert.is(restored.status, 0, restored.stderr);
    assert.is(databases.sql('shop', 'select count(*) from orders').status, 0);
    assert.match(restored.stderr, /two uses this database, too/);
  } finally {
    killApp(root, 'shop');
    killApp(root, 'two');
    databases.close();
  }
});

test.run();
