/** What a restore leaves behind whose runner was killed: a client at work, or a database half way. */
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { killApp } from '@runner/testing/app';
import { startMariadb } from '@runner/testing/databases';
import { run, shellWord, start } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deployFile, makeWorld, type World } from '../deploys/world.ts';
import { TOOL } from './tool.ts';

const test = suite('left behind');

/** Takes the place of the client that puts a backup back; `does` gets all of it in the file `$input`. */
function slowClient(folder: string, does: string): void {
  const script = `#!/bin/sh
case "$*" in *--unbuffered*) exec /usr/bin/mariadb "$@" ;; esac
input=${shellWord(join(folder, 'input'))}.$$
reached=${shellWord(join(folder, 'reached'))}
cat > $input
if grep -q '^-- .* dump ' $input; then ${does}; fi
exec /usr/bin/mariadb "$@" < $input
`;
  writeFileSync(join(folder, 'mariadb'), script, { mode: 0o755 });
}

/** An app whose `rollback --database` is killed when its client has got everything. */
async function killedRestore(
  { config = '', does }: { config?: string; does: (folder: string) => string },
  body: (world: World, folder: string, rows: () => string) => Promise<void>,
): Promise<void> {
  const databases = await startMariadb();
  if (!databases) return;
  const world = await makeWorld();
  const { root } = world;
  appendFileSync(join(root, 'config.yml'), config);
  const folder = temporaryFolder('slow-client');
  slowClient(folder, does(folder));
  const ship = async (version: string, migrations: Record<string, string>) => {
    const deploy = deployFile(world.port, 'migrate: { run: node migrate.js, backup: auto }\n');
    await world.launch(version, { deploy, files: { 'migrate.js': TOOL, ...migrations } });
  };
  try {
    databases.create('shop');
    const stdin = databases.url('shop');
    await run('runner-env', ['set', 'shop', 'DATABASE_URL', '--file', '-'], { root, stdin });
    const one = { 'migrations/1.sql': 'create table orders(id int);' };
    await ship('v1', one);
    await ship('v2', { ...one, 'migrations/2.sql': 'insert into orders values (1);' });
    const { database_backups: backups = [] } = world.state();
    const { deploy_id: id = '' } = (backups as { deploy_id?: string }[]).at(-1) ?? {};
    const env = { PATH: `${folder}:${process.env.PATH}` };
    const killed = start('runner-rollback', ['shop', '--to', 'v1', '--database', id], {
      root,
      env,
    });
    await until(() => existsSync(join(folder, 'reached')), 'the restore has begun');
    process.kill(killed.pid, 'SIGKILL');
    await killed.done;
    await body(world, folder, () =>
      databases.sql('shop', 'select count(*) from orders').stdout.trim(),
    );
  } finally {
    killApp(root, 'shop');
    await world.close();
    databases.close();
  }
}

test('without the sandbox, a restore that goes on after a kill is waited for before it is undone', () =>
  killedRestore(
    {
      config: 'sandbox: off\n',
      does: (folder) =>
        `touch $reached; until [ -e ${shellWord(join(folder, 'gate'))} ]; do sleep 0.05; done`,
    },
    async (world, folder, rows) => {
      const restart = run('runner-restart', ['shop'], { root: world.root });
      await Promise.race([restart, sleep(15_000)]);
      writeFileSync(join(folder, 'gate'), '');
      const { status, stderr } = await restart;
      assert.is(status, 0, stderr);
      await sleep(1_000);
      assert.equal([await world.page(), rows()], ['v2', '1'], stderr);
    },
  ));

test('what a kill leaves when all is dropped, and nothing made again, is brought back', () =>
  killedRestore(
    {
      does: () =>
        `sed '/^-- .* dump /,$d; /^CREATE/d; /^USE/d' $input > $input.first; /usr/bin/mariadb "$@" < $input.first; touch $reached; exec sleep 60`,
    },
    async (world, _, rows) => {
      const { status, stderr } = await run('runner-restart', ['shop'], { root: world.root });
      assert.is(status, 0, stderr);
      assert.equal([await world.page(), rows()], ['v2', '1'], stderr);
    },
  ));

test.run();
