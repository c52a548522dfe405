/** The URL of a database, in the forms of web frameworks. */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MigrationRules } from '@runner/common/deploy-file/migrate';
import { databaseAddress, otherDatabase, serverOf } from '@runner/deploy/database/address';
import { migrationLacks } from '@runner/deploy/database/ready';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const SECRET = 's3cret-Wort';

test('a URL of a server, in every form, is the same database', () => {
  const urls = [
    `postgres://ann:${SECRET}@db.example:5432/shop`,
    `postgresql://db.example/shop?sslmode=require&schema=public`,
    `postgresql+psycopg2://bob@db.example/shop`,
    `postgres://:@/shop?host=db.example`,
  ];
  const all = urls.map((url) => databaseAddress(url, '/').fingerprint);
  assert.is(new Set(all).size, 1);
  assert.match(all[0] ?? '', /^[\da-f]{16}$/);
  const other = databaseAddress('postgres://db.example/shop2', '/').fingerprint;
  assert.not.ok(all.includes(other));
  for (const scheme of ['mysql', 'mysql2', 'mariadb', 'mysql+pymysql'])
    assert.is(databaseAddress(`${scheme}://a:b@h/shop`, '/').kind, 'mysql');
});

test('a server on this machine is the same by each name, and what is kept of it has the hash of its own', () => {
  const hosts = ['localhost', '127.0.0.1', '::1'];
  const all = hosts.map((host) =>
    databaseAddress(`mysql://a:b@${host.includes(':') ? `[${host}]` : host}/shop`, '/'),
  );
  const prints = hosts.map((host) => {
    const place = ['mysql', host, '3306', 'shop'].join('\0');
    return createHash('sha256').update(place).digest('hex').slice(0, 16);
  });
  assert.equal(
    all.map(({ fingerprint }) => fingerprint),
    prints,
  );
  for (const { aliases } of all) assert.equal(aliases, prints);
});

test('user, password, socket and port are read', () => {
  const { user, password, host, port } = serverOf(
    'mysql://a%40b:p%3A%2F@x@localhost/shop',
    'mysql',
  );
  assert.is(user, 'a@b');
  assert.equal([password, host, port], ['p:/@x', 'localhost', '3306']);
});

test('a file of SQLite is absolute, or in the folder of the app', () => {
  const folder = temporaryFolder('address');
  writeFileSync(join(folder, 'dev.db'), '');
  const inFolder = join(folder, 'dev.db');
  for (const url of [
    'file:./dev.db',
    'sqlite:dev.db',
    'sqlite://./dev.db',
    'sqlite:///dev.db',
    'sqlite3:dev.db?mode=rw',
  ])
    assert.is(databaseAddress(url, folder).name, inFolder, url);
  for (const url of [
    'sqlite:////srv/x.db',
    'sqlite:///srv/x.db',
    'file:/srv/x.db',
    'file:///srv/x.db',
  ])
    assert.is(databaseAddress(url, folder).name, '/srv/x.db', url);
});

test('another database on the same server has the form of the URL', () => {
  const of = (url: string, name: string) =>
    otherDatabase(databaseAddress(url, '/nowhere'), name).url;
  assert.is(
    of('postgresql+asyncpg://a:b@h:1/shop?sslmode=require', 'x'),
    'postgresql+asyncpg://a:b@h:1/x?sslmode=require',
  );
  assert.is(of('file:./dev.db?connection_limit=1', '/tmp/x'), 'file:/tmp/x?connection_limit=1');
  for (const url of ['sqlite:////srv/x.db', 'sqlite:///srv/x.db', 'sqlite:x.db', 'sqlite://./x.db'])
    assert.is(databaseAddress(of(url, '/tmp/y.db'), '/nowhere').name, '/tmp/y.db', url);
});

test('a bad URL is refused, and its secrets are not repeated', () => {
  const urls = [
    '',
    SECRET,
    `oracle://ann:${SECRET}@h/shop`,
    `constructor:${SECRET}`,
    `postgres://ann:${SECRET}@h`,
    `postgres:ann:${SECRET}@h/shop`,
    `postgres://ann:${SECRET}@h:port/shop`,
    `postgres://ann:${SECRET}@h1,h2/shop`,
    `mysql://ann:${SECRET}%zz@h/shop`,
    `mysql://ann:${SECRET}@h/sh%0aop`,
    `sqlite::memory:`,
    'sqlite://',
  ];
  for (const url of urls)
    try {
      databaseAddress(url, '/');
      assert.unreachable(url);
    } catch (error) {
      const { message, code } = error as { message: string; code: string };
      assert.is(code, 'config_invalid', url);
      assert.not.match(`${message} ${(error as Error).stack}`, new RegExp(SECRET));
    }
});

test('what a migration lacks is a URL that can be read, and the programs for copies and backups', () => {
  const rules = { database: 'DATABASE_URL', isRehearsed: true } as MigrationRules;
  const lacks = (url: string, more: Partial<MigrationRules> = {}) =>
    migrationLacks({ ...rules, ...more }, url, { PATH: '/nowhere' });
  assert.equal(lacks('postgres://a@b/c'), [
    'migrate: psql is not on PATH',
    'migrate: pg_dump is not on PATH',
  ]);
  assert.equal(lacks('mysql://a@b/c'), [
    'migrate: mariadb or mysql is not on PATH',
    'migrate: mariadb-dump or mysqldump is not on PATH',
  ]);
  assert.equal(lacks('sqlite:a.db'), ['migrate: sqlite3 is not on PATH']);
  assert.equal(lacks('sqlite:a.db', { isRehearsed: false }), []);
  assert.equal(lacks('mongodb://a@b/c', { isRehearsed: false }), [
    'migrate: DATABASE_URL: the URL of the database does not begin with postgres:, mysql:, mariadb:, sqlite: or file:',
  ]);
});

test.run();
