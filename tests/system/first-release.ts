/**
 * `npm run test:system -- first`: the package of 0.1.0, built from the history, is upgraded to the one that
 * brings its Node, and back. Skipped where the history does not hold that version.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { distFolder } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { hasOldVersion, packageOldVersion } from '../model/old-version.ts';
import { addApp, deployByTimer } from './deploys.ts';
import { type Server, startServer } from './server.ts';
import { BROKEN, push } from './shop.ts';

/** Plays it; returns how many steps it has. Throws at the first that goes wrong. */
export async function first(): Promise<number> {
  if (!hasOldVersion()) {
    process.stdout.write('\nskipped: the history does not hold version 0.1.0\n');
    return 0;
  }
  const release = join(dirname(distFolder()), 'release');
  const { version } = JSON.parse(readFileSync(join(release, '../package.json'), 'utf8'));
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const now = `/srv/release/runner_${version}_${arch}.deb`;
  const server = await startServer({ '/srv/release': release, '/srv/old': packageOldVersion() });
  try {
    await beginWithOld(server);
    await upgrade(server, now);
    await goBack(server, now);
    return server.steps();
  } finally {
    await server.close();
  }
}

async function beginWithOld(server: Server): Promise<void> {
  const { step, type, until, shows } = server;
  step('0.1.0 is installed, deploys v1, and blocks v2, which does not compile');
  await type('dpkg -i /srv/old/runner_0.1.0_all.deb');
  assert.match(await type('runner --version'), /0\.1\.0/);
  await addApp(server, '');
  await deployByTimer(server);
  await push(server, 'v2', { 'build.js': BROKEN });
  await until('tail -n 1 /opt/runner/logs/fetch.log', /deploy blocked, same commit failed 3 times/);
  await shows('v1');
}

async function upgrade(server: Server, now: string): Promise<void> {
  const { container, step, type, until, shows } = server;
  step('the upgrade: the app runs on, v2 stays blocked, no record is lost, and v3 is deployed');
  const pid = () => container.ok('systemctl show -P MainPID shop.service');
  const records = () => container.ok('cat /opt/runner/logs/deploy-events.jsonl');
  const [running, recorded] = [await pid(), await records()];
  await type(`dpkg -i ${now}`);
  assert.is(
    await type('readlink -f /usr/lib/runner/node/bin/node'),
    '/usr/lib/runner/node/bin/node\n',
  );
  assert.is(await pid(), running);
  assert.match(await type('runner list'), /shop +blocked .*v1/);
  assert.match(await type('runner why shop'), /v2[\s\S]*TS2339/);
  await type('systemctl is-active runner-fetch.timer runner-notify.timer');
  await push(server, 'v3');
  await shows('v3');
  await until('runner status shop', /v3 since/);
  assert.ok((await records()).startsWith(recorded));
  await type('runner audit verify');
}

async function goBack(server: Server, now: string): Promise<void> {
  const { step, type, until, shows } = server;
  step('back to 0.1.0: it knows what runs, and deploys v4; the upgrade after that goes on with v5');
  await type('dpkg --force-confold -i /srv/old/runner_0.1.0_all.deb');
  assert.match(await type('runner --version'), /0\.1\.0/);
  assert.match(await type('runner list'), /shop .*v3/);
  await push(server, 'v4');
  await shows('v4');
  await until('runner status shop', /v4/);
  await type(`dpkg --force-confold -i ${now}`);
  await push(server, 'v5');
  await shows('v5');
  await until('runner status shop', /v5 since/);
  assert.match(await type('runner history shop'), /v1[\s\S]*v3[\s\S]*v4[\s\S]*v5/);
  await type('runner rollback shop');
  await shows('v4');
}
