/** Tools of another version than the server: what they print is that of the other, by stand-ins on PATH. */
import { writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { killApp } from '@runner/testing/app';
import { startMariadb, startPostgres, type TestDatabases } from '@runner/testing/databases';
import { distFolder, type Ended, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deployFile, makeWorld, type World } from '../deploys/world.ts';
import { TOOL } from './tool.ts';

const test = suite('versions of database tools');

const ONE = 'create table orders(id int primary key, note varchar(20), total int not null);';
const TWO = 'alter table orders drop column note;';

interface Versions {
  readonly world: World;
  readonly databases: TestDatabases;
  ship(version: string, migrations: readonly string[], more?: string): Promise<Ended>;
  rollback(...args: string[]): Promise<Ended>;
}

/** An app with a database whose programs stand before those of the system: `scripts` by their names. */
async function withPrograms(
  start: () => Promise<TestDatabases | undefined>,
  scripts: Readonly<Record<string, string>>,
  body: (versions: Versions) => Promise<void>,
): Promise<void> {
  const databases = await start();
  if (!databases) return;
  const world = await makeWorld();
  const { root } = world;
  const folder = temporaryFolder('programs');
  for (const [name, text] of Object.entries(scripts))
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  const env = { PATH: [folder, join(distFolder(), 'bin'), process.env.PATH].join(delimiter) };
  try {
    databases.create('shop');
    const stdin = databases.url('shop');
    const set = ['set', 'shop', 'DATABASE_URL', '--file', '-'];
    assert.is((await run('runner-env', set, { root, stdin })).status, 0);
    await body({
      world,
      databases,
      async ship(version, migrations, more = '') {
        const files = migrations.map((text, at) => [`migrations/${at}.sql`, text]);
        const rules = `migrate: { run: node migrate.js, backup: auto${more} }\n`;
        const deploy = deployFile(world.port, rules);
        await world.push(version, {
          deploy,
          files: { 'migrate.js': TOOL, ...Object.fromEntries(files) },
        });
        return world.deploy(['--verbose'], env);
      },
      rollback: (...args) => run('runner-rollback', ['shop', ...args], { root, env }),
    });
  } finally {
    killApp(root, 'shop');
    await world.close();
    databases.close();
  }
}

/** What a program of PostgreSQL 17 and later prints in addition, which a server before it does not know. */
const ofVersion17 = (program: string) => `case "$*" in *-Fc*) exec /usr/bin/${program} "$@" ;; esac
/usr/bin/${program} "$@" | sed '/^SET transaction_timeout/d; s/^SET lock_timeout = 0;$/&\\nSET transaction_timeout = 0;/'`;

test('the tools of PostgreSQL 17 rehearse and restore a database of an older server', () =>
  withPrograms(
    startPostgres,
    { pg_dump: ofVersion17('pg_dump'), pg_restore: ofVersion17('pg_restore') },
    async ({ world, databases, ship, rollback }) => {
      const first = await ship('v1', [ONE]);
      assert.is(first.status, 0, first.stderr);
      databases.sql('shop', "insert into orders values (1, 'first', 10);");
      const second = await ship('v2', [ONE, TWO]);
      assert.match(second.stderr, /ok +rehearse on a copy of the schema/);
      const full = ', rehearse: full, check: "true"';
      const third = await ship('v3', [ONE, TWO, 'create table more(id int);'], full);
      assert.match(third.stderr, /ok +rehearse on a full copy/);
      const [, id = ''] = /--database (\w+)/.exec((await rollback('--to', 'v1')).stderr) ?? [];
      const back = await rollback('--to', 'v1', '--database', id);
      assert.is(back.status, 0, back.stderr);
      assert.is(await world.page(), 'v1');
      assert.is(databases.sql('shop', 'select * from orders').stdout, '1|first|10\n');
    },
  ));

/** The client says that the server is another, and refuses what that would not know; the lock's session is not. */
const ofMysql = (version: string) => `case "$*" in
  *--unbuffered*) sed -u s/MD5/NO_MD5/g | /usr/bin/mariadb "$@"; exit ;;
esac
input=$(cat; echo .)
case "$input" in
  *MD5*) echo 'ERROR 1305 (42000) at line 1: FUNCTION shop.MD5 does not exist' >&2; exit 1 ;;
esac
printf %s "\${input%.}" | sed "s/VERSION()/'${version}'/g; s/, CONSTRAINT_NAME)/, CONSTRAINT_NAME, TABLE_NAME)/" | exec /usr/bin/mariadb "$@"`;

test('MySQL without its old hashes is rehearsed, compared and locked', () =>
  withPrograms(startMariadb, { mariadb: ofMysql('9.7.4') }, async ({ databases, ship }) => {
    const held = "is_used_lock(concat('runner_', md5('shop'))) is not null";
    const one = `${ONE} create view notes as select note from orders; create table locked as select ${held} as held;`;
    const first = await ship('v1', [one]);
    assert.match(first.stderr, /ok +rehearse on a copy of the schema/);
    assert.is(databases.sql('shop', 'select held from locked').stdout, '1\n');
    const view = 'create or replace view notes as select upper(note) as note from orders;';
    const second = await ship('v2', [one, view]);
    assert.match(second.stderr, /is not known: changes view notes/);
  }));

test('a backup of MySQL that could not be put back is refused before the migration', () =>
  withPrograms(startMariadb, { mariadb: ofMysql('8.0.36') }, async ({ databases, ship }) => {
    const one = `${ONE} alter table orders add column twice int as (total * 2) stored;`;
    assert.is((await ship('v1', [one])).status, 0);
    const second = await ship('v2', [one, TWO]);
    assert.is(second.status, 1);
    assert.match(
      second.stderr,
      /migrate: the database could not be backed up: MariaDB's tools cannot back up orders\.twice, which MySQL generates: install those of MySQL in their place/,
    );
    assert.match(databases.sql('shop', 'show columns from orders').stdout, /note/);
  }));

test.run();
