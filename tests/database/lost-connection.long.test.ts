/** A restore whose connection is lost while the server commits it: what is started fits the database. */
import { connect, createServer, type Socket } from 'node:net';
import { killApp } from '@runner/testing/app';
import { startPostgres } from '@runner/testing/databases';
import { run } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deployFile, makeWorld } from '../deploys/world.ts';
import { TOOL } from './tool.ts';

const test = suite('lost connections');

/** Passes bytes on; once it is `armed`, the answer to the next COMMIT is lost. */
async function lossyProxy(port: number) {
  const state = { armed: false, lost: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    for (const each of [client, upstream]) {
      sockets.add(each);
      each.on('error', () => {});
    }
    client.on('close', () => upstream.end());
    upstream.on('close', () => client.destroy());
    client.on('data', (bytes) => {
      const isLost = state.armed && bytes.includes('COMMIT;');
      if (!isLost) return void upstream.write(bytes);
      state.armed = false;
      state.lost += 1;
      upstream.removeAllListeners('data');
      upstream.write(bytes);
      // The server reads it before it sees that no one is there.
      upstream.once('data', () => client.destroy());
    });
    upstream.on('data', (bytes) => client.write(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port: own } = server.address() as { port: number };
  const close = () => {
    for (const each of sockets) each.destroy();
    server.close();
  };
  return { state, port: own, close };
}

test('a restore that was committed, but whose answer was lost, is undone with all that it did', async () => {
  const databases = await startPostgres();
  if (!databases) return;
  const world = await makeWorld();
  const { root } = world;
  databases.create('shop');
  const direct = new URL(databases.url('shop'));
  const proxy = await lossyProxy(Number(direct.port));
  const url = `${databases.url('shop').replace(`:${direct.port}/`, `:${proxy.port}/`)}&sslmode=disable`;
  const files: Record<string, string> = { 'migrate.js': TOOL };
  const ship = async (version: string, name: string, sql: string) => {
    files[`migrations/${name}`] = sql;
    const deploy = deployFile(world.port, 'migrate: { run: node migrate.js, backup: auto }\n');
    await world.launch(version, { deploy, files });
  };
  const columns = () =>
    databases.sql(
      'shop',
      "select string_agg(column_name, ' ' order by column_name) from information_schema.columns where table_name = 'orders'",
    ).stdout;
  try {
    const set = ['set', 'shop', 'DATABASE_URL', '--file', '-'];
    assert.is((await run('runner-env', set, { root, stdin: url })).status, 0);
    await ship('v1', '1.sql', 'create table orders(id int, note text);');
    await ship('v2', '2.sql', 'alter table orders drop column note;');
    const id = (world.state().database_backups as { deploy_id: string }[]).at(-1)?.deploy_id ?? '';
    proxy.state.armed = true;
    const restore = ['shop', '--to', 'v1', '--database', id];
    const { status, stderr } = await run('runner-rollback', restore, { root });
    assert.equal([proxy.state.lost, status], [1, 1], stderr);
    assert.equal([await world.page(), columns()], ['v2', 'id\n'], stderr);
    assert.is(world.state().migrating ?? null, null);
    const back = await run('runner-rollback', restore, { root });
    assert.is(back.status, 0, back.stderr);
    assert.equal([await world.page(), columns()], ['v1', 'id note\n']);
  } finally {
    proxy.close();
    killApp(root, 'shop');
    await world.close();
    databases.close();
  }
});

test.run();
