/** What an app can do with the records of its own process and with its folders. */
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { processesIn } from '@runner/testing/processes';
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { makeWorld, REPO, TOKEN } from '../deploys/world.ts';
import { REQUIRED, records, test } from './records.ts';

test('an app that puts the records of another app in place of its own does not end that app', async () => {
  const world = await makeWorld();

  const { root } = world;
  await world.push('v1');
  assert.is((await world.deploy([], REQUIRED)).status, 0);
  const victim = () => processesIn(root).filter(({ command }) => /server\.js$/.test(command));
  const before = victim().map(({ pid }) => pid);
  const record = join(root, 'apps/shop/instances/default/run/pid.json');
  const { session, pid } = JSON.parse(readFileSync(record, 'utf8'));
  const own = join(root, 'apps/evil/instances/default/run');
  const added = ['--repo', REPO, '--branch', 'main', '--name', 'evil', '--token', '-'];
  const stdin = TOKEN;
  const { status, stderr } = await run('runner-add', added, { root, stdin });
  assert.is(status, 0, stderr);
  for (const forged of [true, false]) {
    mkdirSync(join(own, '..'), { recursive: true });
    rmSync(own, { recursive: true, force: true });
    if (forged) mkdirSync(own);
    else symlinkSync('../../../shop/instances/default/run', own);
    const now = JSON.parse(readFileSync(record, 'utf8'));
    const dead = { ...now, pid: 4_194_000, start_time: '0', session: session ?? pid };
    if (forged) writeFileSync(join(own, 'pid.json'), JSON.stringify(dead));
    const { stderr: said } = await run('runner-deploy', ['evil'], { root, env: REQUIRED });
    assert.match(said, forged ? /start|health|port/ : /leads elsewhere/);
    assert.equal(
      victim()
        .map((each) => each.pid)
        .filter((each) => before.includes(each)),
      before,
    );
    assert.equal(JSON.parse(readFileSync(record, 'utf8')), now);
  }
  await world.close();
});

test('a link that an app put in the place of a folder, when it still could, is not followed', async () => {
  const world = await makeWorld();
  const shared = join(world.root, 'apps/shop/instances/default/shared');
  mkdirSync(join(shared, '..'), { recursive: true });
  for (const target of ['/', world.root, '../../../../state']) {
    symlinkSync(target, shared);
    await world.push('v1', { deploy: 'build: touch $RUNNER_SHARED/made\n' });
    assert.is((await world.deploy([], REQUIRED)).status, 1);
    assert.match(String(world.events().at(-1)?.error), /shared leads to \/.*: remove the link$/);
    rmSync(shared);
  }
  await world.close();
});

records.run();
