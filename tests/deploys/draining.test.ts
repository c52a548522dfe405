/** A release stays as long as a process uses it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { shellWord } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { isAlive, until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { type World, worldSuite } from './world.ts';

const test = worldSuite('draining');

const releases = (world: World) => readdirSync(join(world.root, 'apps/shop/releases'));

test('a commit deployed again keeps the release that an old process still uses', async ({
  world,
}) => {
  const pids = join(temporaryFolder('pids'), 'pids');
  const worker = `setsid sleep 300 & echo $! >> ${shellWord(pids)}`;
  await world.push('v1', { deploy: `start: { type: command, run: "${worker}" }\n` });
  const draining = () => readFileSync(pids, 'utf8').trim().split('\n').map(Number);
  try {
    assert.is((await world.deploy()).status, 0);
    const [first = ''] = releases(world);
    for (let times = 0; times < 2; times += 1) assert.is((await world.deploy()).status, 0);
    assert.ok(existsSync(join(world.root, 'apps/shop/releases', first, 'VERSION')));
    const [oldest = 0] = draining();
    process.kill(oldest, 'SIGKILL');
    await until(() => !isAlive(oldest), 'it goes on');
    assert.is((await world.deploy()).status, 0);
    assert.not.ok(releases(world).includes(first));
  } finally {
    for (const pid of draining()) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  }
});

test.run();
