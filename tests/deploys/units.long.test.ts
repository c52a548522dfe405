/** What commands say of a unit that cannot run its app as it is. */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { run, shellWord } from '@runner/testing/run';
import { trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import * as assert from 'uvu/assert';
import { systemd, UNIT, unitsSuite } from './units.ts';

const test = unitsSuite('units');

test('a unit whose user cannot enter the release is a problem until an access list allows it', async ({
  world,
  memory,
}) => {
  const env = systemd(memory, 'User=nobody\\n');
  await world.push('v1', { deploy: UNIT });
  const problems = async () => {
    const { stdout } = await world.deploy(['--check', '--json'], env);
    return JSON.parse(stdout).problems as string[];
  };
  const found = await problems();
  const app = join(world.root, 'apps/shop');
  assert.ok(
    found.includes(
      `start: nobody, the user of shop.service, may not enter ${app}: setfacl -R -m u:nobody:rX,d:u:nobody:rX ${shellWord(app)}`,
    ),
    found.join('\n'),
  );
  for (const problem of found) {
    const fix = problem.slice(problem.indexOf(': setfacl ') + 2);
    assert.is(spawnSync('sh', ['-c', fix]).status, 0, problem);
  }
  assert.equal(await problems(), []);
});

test('the cause of a restart that fails is the journal of the unit', async ({ world, memory }) => {
  const env = systemd(
    memory,
    '',
    '"systemctl restart"*) echo "Job for shop.service failed. See journalctl -xeu" >&2; exit 1 ;; journalctl*json*) ;; journalctl*) echo "shop.service: Changing to the requested working directory failed: Permission denied" ;;',
  );
  await world.push('v1', { deploy: UNIT });
  const done = await world.deploy([], env);
  assert.is(done.status, 1);
  const failure = world.events().findLast((event) => event.event_type === 'DeployFailure');
  assert.match(String(failure?.error), /Changing to the requested working directory failed/);
});

test("with --timestamps the lines of a unit's journal begin with their time", async ({
  world,
  memory,
}) => {
  const env = systemd(memory, '', 'journalctl*json*) ;; journalctl*) echo "$*" ;;');
  await world.push('v1', { deploy: UNIT });
  assert.is((await world.deploy([], env)).status, 0);
  const shown = async (...args: string[]) =>
    (await run('runner-logs', ['shop', ...args], { root: world.root, env })).stdout;
  assert.match(await shown(), /--output cat/);
  assert.match(await shown('-t'), /--output short-iso/);
  assert.match(await shown('-t', '--since', 'yesterday'), /--output short-iso/);
});

test('a unit that no version uses any more is reported while it is enabled', async ({
  world,
  memory,
}) => {
  const { root } = world;
  const env = systemd(
    memory,
    '',
    '*"UnitFileState -- shop.service") echo UnitFileState=enabled ;; *UnitFileState*) echo UnitFileState=disabled ;;',
  );
  await world.push('v1', { deploy: UNIT });
  assert.is((await world.deploy([], env)).status, 0);
  const left =
    /shop\.service, which shop no longer uses, is enabled: .*: systemctl disable --now shop\.service/;
  const doctor = async () => {
    const { stdout } = await run('runner-doctor', ['--offline', '--json'], { root, env });
    const { findings } = JSON.parse(stdout) as { findings: { message: string; fix: string }[] };
    return findings.map(({ message, fix }) => `${message}: ${fix}`).join('\n');
  };
  await world.push('v2', { deploy: trafficFile(), files: trafficFiles('v2') });
  assert.is((await world.deploy([], env)).status, 0);
  assert.not.match(await doctor(), left);
  const stopped = await run('runner-stop', ['shop', '--before-traffic'], { root, env });
  assert.is(stopped.status, 0);
  assert.match(stopped.stderr, left);
  assert.match(await doctor(), left);
});

test.run();
