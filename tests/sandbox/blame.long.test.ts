/** Who is to blame for a failed command: what it prints decides nothing. */
import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { word } from '@runner/common/text/shell';
import { run } from '@runner/testing/run';
import { trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import * as assert from 'uvu/assert';
import { inWorld, type World } from '../deploys/world.ts';
import { makeTrafficWorld } from '../traffic/world.ts';
import { REQUIRED, sandbox, test } from './blame.ts';

const fetchDeploy = (world: World) =>
  run('runner-fetch', ['--deploy'], { root: world.root, env: REQUIRED });

for (const line of ['No space left on device', 'bwrap: Can not make a thing', 'ENOSPC: full']) {
  test(`a commit that prints "${line}" and fails is blocked like any other`, () =>
    inWorld(async (world) => {
      await world.push('v1', { deploy: `build: "echo '${line}' >&2; exit 1"\n` });
      for (let round = 0; round < 5; round += 1) await fetchDeploy(world);
      assert.is(world.kinds().filter((kind) => kind === 'DeployFailure').length, 3);
    }));
}

test('an app cannot change the environment file of its slot, nor put a link in its place', async () => {
  const world = await makeTrafficWorld();
  try {
    writeFileSync(join(world.root, 'config.yml'), 'sandbox: required\n', { flag: 'a' });
    const env = join(world.dir, 'a/env');
    const attack = [
      `for each in a b; do f=${word(world.dir)}/$each`,
      'ln -sfn /etc/passwd $f/env; mv $f/env $f/kept; rm -f $f/env; echo X=1 >> $f/env; mv $f $f-old',
      'done; true',
    ].join('; ');
    const hook = `traffic: { type: socket, drain: 2s }\nhooks: { pre_switch: ${JSON.stringify(attack)}, post_deploy: ${JSON.stringify(attack)} }\n`;
    for (const version of ['v1', 'v2', 'v3']) {
      const done = await world.ship(version, 'good', hook);
      assert.is(done.status, 0, done.stderr);
    }
    for (const slot of ['a', 'b'])
      assert.ok(lstatSync(join(world.dir, slot, 'env')).isFile(), slot);
    assert.not(existsSync(join(world.dir, 'a-old')));
    // The app itself, which makes its socket there.
    const inApp = `const fs = require('fs'); const tries = [['symlinkSync', '/etc/passwd', '${env}'], ['unlinkSync', '${env}'], ['writeFileSync', '${env}', 'X=1'], ['renameSync', '${env}', '${env}2']];
fs.writeFileSync(process.env.RUNNER_SHARED + '/tried', tries.filter(([how, ...args]) => { try { fs[how](...args); return true; } catch { return false; } }).join());
`;
    const files = trafficFiles('v4', 'good');
    for (let round = 4; round < 6; round += 1) {
      const server = `${inApp}${String(files['server.js'])}\n// ${round}\n`;
      await world.launch(`v${round}`, {
        deploy: trafficFile(),
        files: { ...files, 'server.js': server },
      });
    }
    assert.is(readFileSync(join(world.dir, 'shared/tried'), 'utf8'), '');
    assert.ok(lstatSync(env).isFile());
  } finally {
    await world.close();
  }
});

sandbox.run();
