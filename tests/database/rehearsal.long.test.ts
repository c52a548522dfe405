/** A rehearsal leaves nothing behind, shows no password, and says why it is not possible. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { databaseAddress } from '@runner/deploy/database/address';
import { query } from '@runner/deploy/database/query';
import { rehearseSchema } from '@runner/deploy/database/rehearse';
import { startMariadb, startPostgres, type TestDatabases } from '@runner/testing/databases';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('rehearsals');
const LEFT = 'runner_scratch_5f000000';
const ADMIN = { postgres: 'postgres', mysql: 'mysql', sqlite: '' };
const END = {
  postgres: `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${LEFT}'`,
  mysql: `SELECT ID INTO @own FROM information_schema.PROCESSLIST WHERE DB = '${LEFT}'; KILL @own`,
  sqlite: '',
};
const LIST = {
  postgres: "SELECT datname FROM pg_database WHERE datname LIKE 'runner%'",
  mysql: "SHOW DATABASES LIKE 'runner%'",
  sqlite: '',
};

/** The arguments of all processes, again and again until `end`. */
function watchArguments() {
  let seen = '';
  const timer = setInterval(() => {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
      try {
        seen += readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        // It has ended.
      }
  }, 20);
  return () => {
    clearInterval(timer);
    return seen;
  };
}

async function check(databases: TestDatabases): Promise<void> {
  const { kind } = databases;
  const left = () => databases.sql(ADMIN[kind], LIST[kind]).stdout.trim();
  databases.create('shop');
  databases.create(LEFT);
  databases.sql('shop', 'CREATE TABLE things (id bigint PRIMARY KEY)');
  const url = databases.url('shop');
  const temporary = temporaryFolder('scratch');
  const signal = new AbortController().signal;
  const address = databaseAddress(url, '/');
  const run = async (place: string) => {
    await query(databaseAddress(place, '/'), 'SELECT 1');
    return { ok: true, words: '' };
  };
  const rehearse = (more: object) => rehearseSchema({ address, temporary, run, signal, ...more });

  const end = watchArguments();
  const owned =
    kind === 'postgres'
      ? `ALTER TABLE things OWNER TO app; ALTER TABLE things RENAME TO things;`
      : '';
  databases.sql('shop', owned);
  const wait = kind === 'postgres' ? 'SELECT pg_sleep(3600)' : 'SELECT SLEEP(3600)';
  const work = new AbortController();
  const inUse = query(databaseAddress(databases.url(LEFT), '/'), wait, { signal: work.signal });
  const ended = inUse.catch(() => 'ended');
  await sleep(500);
  assert.is((await rehearse({})).verdict, 'additive');
  assert.not.ok(end().includes('7f3a'));
  assert.is(left(), LEFT, 'a long rehearsal of another app still uses it');
  work.abort();
  assert.is(await ended, 'ended');
  databases.sql(ADMIN[kind], END[kind]);
  await rehearse({});
  assert.is(left(), '', 'what a killed process left is dropped');

  const failed = await rehearse({
    run: async (place: string) => ({ ...(await run(place)), ok: false, words: 'no such column' }),
  });
  assert.equal(
    [failed.verdict, failed.reasons],
    ['broken', ['the rehearsal failed: no such column']],
  );
  const poor = databaseAddress(url.replace('app:', 'poor:'), '/');
  const refused = await rehearse({ address: poor });
  assert.is(refused.verdict, 'unknown');
  assert.match(refused.reasons[0] ?? '', 'may not create databases');
  const wrong = await rehearse({ address: databaseAddress(url.replace('7f3a', '7f3b'), '/') });
  assert.is(wrong.verdict, 'unknown');
  assert.not.match(JSON.stringify([refused, wrong]), /7f3/);

  if (kind === 'mysql') {
    // The client says that it failed; the statement never reaches the server.
    const naming = async (place: string) => {
      const sql = 'INSERT INTO shop.things VALUES (1)';
      const ok = await query(databaseAddress(place, '/'), sql).then(
        () => true,
        () => false,
      );
      return { ok, words: 'lost connection' };
    };
    const stopped = await rehearse({ run: naming });
    assert.equal(stopped.reasons, ['the migration names the database of production']);
    const elsewhere = await rehearse({ run: async () => ({ ok: true, words: '' }) });
    assert.equal(elsewhere.reasons, [
      'none of its statements arrives: it uses another address, or the server demands TLS',
    ]);
    const early = await rehearse({
      run: async () => ({ ok: false, words: 'ended with status 1' }),
    });
    assert.equal(
      [early.hasFailed, early.reasons],
      [true, ['the rehearsal failed: ended with status 1']],
    );
    const refusedByServer = await rehearse({
      run: async (place: string) => {
        const wrong = databaseAddress(place.replace('7f3a', '7f3b'), '/');
        const ok = await query(wrong, 'SELECT 1').then(
          () => true,
          () => false,
        );
        return { ok, words: 'access denied' };
      },
    });
    assert.equal(refusedByServer.reasons, [
      'none of its statements arrives: it uses another address, or the server demands TLS',
    ]);
  }

  const aborted = new AbortController();
  const stop = async () => {
    aborted.abort();
    return { ok: true, words: '' };
  };
  try {
    await rehearse({ run: stop, signal: aborted.signal });
    assert.unreachable();
  } catch (error) {
    assert.is((error as { code?: string }).code, 'interrupted');
  }
  assert.is(left(), '', 'an abort drops the copy');
  assert.equal(await query(address, 'SELECT count(*) FROM things'), [['0']]);
}

for (const [name, start] of Object.entries({ PostgreSQL: startPostgres, MariaDB: startMariadb }))
  test(`${name}: a rehearsal leaves nothing, and shows no password`, async () => {
    const databases = await start();
    try {
      if (databases) await check(databases);
    } finally {
      databases?.close();
    }
  });

test('SQLite: the copy is removed, and a missing file is a sentence', async () => {
  const temporary = temporaryFolder('scratch');
  const signal = new AbortController().signal;
  const run = async () => ({ ok: true, words: '' });
  const file = join(temporary, 'shop.db');
  const address = databaseAddress(`file:${file}`, '/');
  const missing = await rehearseSchema({ address, temporary, run, signal });
  assert.equal(missing.reasons, ['the rehearsal is not possible: there is no file shop.db']);
  writeFileSync(file, '');
  await query(address, 'CREATE TABLE things (id integer PRIMARY KEY)');
  assert.is((await rehearseSchema({ address, temporary, run, signal })).verdict, 'additive');
  assert.equal(readdirSync(temporary), ['shop.db']);
});

test.run();
