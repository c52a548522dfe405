/** What a database's own tools print. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '@runner/common/foundation/failure';
import { databaseAddress } from '@runner/deploy/database/address';
import { runTool } from '@runner/deploy/database/tools';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const own = suite('tools of databases');
const test = spawnSync('sqlite3', ['-version']).status === 0 ? own : own.skip;

test('what a tool prints is taken whole, also if it has ended before the first byte is asked for', async () => {
  const path = join(temporaryFolder('tools'), 'shop.db');
  writeFileSync(path, '');
  let text = '';
  const output = async (bytes: AsyncIterable<Uint8Array>) => {
    // As a backup does that prepares its encryption first.
    await sleep(1_000);
    for await (const chunk of bytes) text += Buffer.from(chunk).toString();
  };
  const words = { args: ['-batch'], input: "select 'all of it';\n" };
  await runTool(databaseAddress(`sqlite:${path}`, '/'), 'client', words, { output });
  assert.is(text, 'all of it\n');
});

test('what cannot be taken ends the tool, however much it still prints', async () => {
  const path = join(temporaryFolder('tools'), 'shop.db');
  writeFileSync(path, '');
  const output = async () => {
    await sleep(1_000);
    throw new Failure('disk_full', 'the disk is full');
  };
  const many = 'with recursive n(i) as (select 1 union all select i + 1 from n limit 1000000)';
  const words = { args: ['-batch'], input: `${many} select i from n;\n` };
  const tool = runTool(databaseAddress(`sqlite:${path}`, '/'), 'client', words, { output });
  const ended = tool.then(
    () => 'taken',
    (error: Error) => error.message,
  );
  assert.is(await Promise.race([ended, sleep(10_000, 'it hangs')]), 'the disk is full');
});

/** A tool in place of the installed one that fails with these lines on stderr; what is said of it. */
async function saidOf(tool: string, kind: 'postgres' | 'mysql', lines: string): Promise<string> {
  const folder = temporaryFolder('tools');
  const script = `#!/bin/sh\ncat >&2 <<'END'\n${lines}\nEND\nexit 1\n`;
  writeFileSync(join(folder, tool), script, { mode: 0o755 });
  const { PATH } = process.env;
  process.env.PATH = `${folder}:/bin`;
  try {
    await runTool(databaseAddress(`${kind}://ada@localhost/shop`, '/'), 'dump', { args: [] });
    return 'nothing';
  } catch (error) {
    return (error as Error).message;
  } finally {
    process.env.PATH = PATH;
  }
}

own('a tool that is older than the server is said with both versions', async () => {
  const [why, versions] = [
    'pg_dump: error: aborting because of server version mismatch',
    'server version: 16.2 (Ubuntu 16.2-1ubuntu4); pg_dump version: 13.16 (Debian 13.16-0+deb11u1)',
  ];
  for (const lines of [`pg_dump: ${versions}\n${why}`, `${why}\npg_dump: detail: ${versions}`])
    assert.is(
      await saidOf('pg_dump', 'postgres', lines),
      `pg_dump: aborting because of server version mismatch: ${versions}`,
    );
});

own('the warnings of a tool are not why it failed', async () => {
  const lines = [
    "Warning: mariadb-dump: unknown variable 'loose-set-gtid-purged=OFF'",
    'WARNING: option --ssl-verify-server-cert is disabled, because of an insecure passwordless login.',
    'mariadb-dump: ada has insufficient privileges to SHOW CREATE FUNCTION `vat`!',
  ];
  assert.is(
    await saidOf('mariadb-dump', 'mysql', lines.join('\n')),
    'mariadb-dump: ada has insufficient privileges to SHOW CREATE FUNCTION `vat`!',
  );
});

own.run();
