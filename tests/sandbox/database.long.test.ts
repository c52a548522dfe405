/** The tools of databases run in the sandbox: what a commit puts into a database decides what they do. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, shellWord } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deployFile, inWorld, type World } from '../deploys/world.ts';
import { isAvailable } from './available.ts';

const own = suite('databases in the sandbox');
const test = isAvailable && spawnSync('sqlite3', ['-version']).status === 0 ? own : own.skip;
const REQUIRED = { RUNNER_SANDBOX: 'required' };

const sql = (file: string, text: string) =>
  execFileSync('sqlite3', [file, text], { encoding: 'utf8' }).trim();
const sharedOf = (world: World, app: string) =>
  join(world.root, 'apps', app, 'instances/default/shared');

const rollback = ({ root }: World, ...args: string[]) =>
  run('runner-rollback', ['shop', ...args], { root, env: REQUIRED });

interface Pushed {
  readonly url: string;
  readonly script: string;
  readonly more?: string;
}

async function ship(world: World, version: string, { url, script, more = '' }: Pushed) {
  const section = `shared: [data/]\nmigrate: { run: sh migrate.sh${more} }\n`;
  const deploy = deployFile(world.port, section).replace(
    'env: { ',
    `env: { DATABASE_URL: "${url}", `,
  );
  await world.push(version, { deploy, files: { 'migrate.sh': script } });
  return world.deploy([], REQUIRED);
}

test('what a commit puts into its database runs nothing outside of the sandbox', () =>
  inWorld(async (world) => {
    const shared = sharedOf(world, 'shop');
    const steal = `cat ${shellWord(join(world.root, 'mkey'))} > ${shellWord(join(shared, 'data/loot'))}; true`;
    const view = `create view pragma_table_list as select 'main' as schema,
      (select edit('x', '${steal.replaceAll("'", "''")}')) as name, 'table' as type, 0 as ncol, 0 as wr, 0 as strict;`;
    const script = `sqlite3 "\${DATABASE_URL#sqlite:}" "${view}"\n`;
    const done = await ship(world, 'v1', {
      url: `sqlite:${join(shared, 'data/db.sqlite')}`,
      script,
    });
    assert.is(done.status, 0, done.stderr);
    assert.is(readFileSync(join(shared, 'data/loot'), 'utf8'), '');
  }));

test('the database of another app is neither read, copied nor restored', () =>
  inWorld(async (world) => {
    const theirs = join(sharedOf(world, 'other'), 'db.sqlite');
    mkdirSync(join(theirs, '..'), { recursive: true });
    sql(theirs, "create table users(name text); insert into users values ('secret-of-another')");
    const script = 'sqlite3 "${DATABASE_URL#sqlite:}" "select * from users"; true\n';
    const done = await ship(world, 'v1', {
      url: `sqlite:${theirs}`,
      script,
      more: ', backup: auto',
    });
    assert.is(done.status, 1);
    assert.match(
      done.stderr,
      /migrate: the database cannot be reached: .*unable to open database .*; it ran in the sandbox, which lets commands write only to/,
    );
    assert.not.match(done.stdout + done.stderr, /secret-of-another/);
    const mine = join(sharedOf(world, 'shop'), 'data/db.sqlite');
    const link = `ln -sfn ${shellWord(theirs)} "$RUNNER_SHARED/data/db.sqlite"; true\n`;
    const linked = await ship(world, 'v2', {
      url: `sqlite:${mine}`,
      script: link,
      more: ', rehearse: false, backup: auto',
    });
    assert.is(linked.status, 0, linked.stderr);
    const again = await world.deploy(['--force'], REQUIRED);
    assert.match(again.stderr, /the database could not be backed up: .*unable to open database/);
    assert.equal(readdirSync(join(world.root, 'apps/shop/database')), []);
    assert.is(sql(theirs, 'select count(*) from users'), '1');
  }));

test('a backup in the sandbox is made, and put back into a file that was lost', () =>
  inWorld(async (world) => {
    const file = join(sharedOf(world, 'shop'), 'data/db.sqlite');
    const more = ', backup: auto, rehearse: full';
    const url = `sqlite:${file}`;
    const create = 'sqlite3 "${DATABASE_URL#sqlite:}" "create table orders(note)"\n';
    assert.is((await ship(world, 'v1', { url, script: create, more })).status, 0);
    sql(file, "insert into orders values ('first')");
    const drop = 'sqlite3 "${DATABASE_URL#sqlite:}" "alter table orders rename to sales"\n';
    const done = await ship(world, 'v2', { url, script: drop, more });
    assert.is(done.status, 0, done.stderr);
    const [, id = ''] = /--database ([0-9a-f]{8})/.exec((await rollback(world)).stderr) ?? [];
    execFileSync('rm', [file]);
    const back = await rollback(world, '--to', 'v1', '--database', id);
    assert.is(back.status, 0, back.stderr);
    assert.is(sql(file, 'select note from orders'), 'first');
  }));

own.run();
