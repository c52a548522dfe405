/** What operators do on a full disk: what runs goes on, and what is said of it is true. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { atExit } from '@runner/testing/cleanup';
import { run } from '@runner/testing/run';
import { trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import { request, startProxy } from '@runner/testing/traffic-proxy';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makeWorld } from './world.ts';

/** A folder on a small disk of its own, and how to fill it; undefined where none can be mounted. */
function smallDisk(path: string, size: string) {
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=755`, 'none', path]);
  if (mounted.status !== 0) {
    process.stdout.write('skipped: only root can mount a small disk\n');
    return undefined;
  }
  const remove = () => void spawnSync('umount', ['-l', path]);
  atExit(remove);
  const fill = () => spawnSync('sh', ['-c', 'cat /dev/zero > full'], { cwd: path });
  return { remove, fill };
}

test('a rollback that a full disk prevents says that the version before still runs', async () => {
  const parent = mkdtempSync('/tmp/runner-full-');
  const disk = smallDisk(parent, '48m');
  if (!disk) return;
  const world = await makeWorld({ parent });
  for (const version of ['v0', 'v1']) {
    await world.push(version);
    assert.is((await world.deploy()).status, 0);
  }
  disk.fill();
  const failed = await run('runner-rollback', ['shop'], { root: world.root });
  assert.is(failed.status, 1, failed.stderr);
  assert.match(failed.stdout, /^Failed to roll back shop .* v1 is active as before\.\n$/);
  assert.is(await world.page(), 'v1');
  await world.close();
  disk.remove();
});

test('what is stopped starts although its state cannot be written, with traffic too', async () => {
  const world = await makeWorld({ parent: '/tmp' });
  const own = join(world.root, 'apps/shop/instances/default');
  const proxy = await startProxy(() => ({ socketPath: join(own, 'live/app.sock') }));
  const pages = [() => world.page(), async () => (await request(proxy.port)).version];
  for (const [at, page] of pages.entries()) {
    const version = `v${at}`;
    const file = { deploy: trafficFile(), files: trafficFiles(version) };
    await world.push(version, at === 0 ? {} : file);
    assert.is((await world.deploy()).status, 0);
    assert.is((await run('runner-stop', ['shop'], { root: world.root })).status, 0);
    const state = readFileSync(join(world.root, 'state/shop.json'));
    const disk = smallDisk(join(world.root, 'state'), '16k');
    if (!disk) break;
    writeFileSync(join(world.root, 'state/shop.json'), state);
    disk.fill();
    const started = await run('runner-start', ['shop'], { root: world.root });
    assert.match(
      started.stderr,
      /ok {5}start default .*\n.*the change was not saved \(disk_full\)\n$/,
    );
    assert.is(await page(), version);
    disk.remove();
    assert.is((await run('runner-start', ['shop'], { root: world.root })).status, 0);
  }
  proxy.close();
  await world.close();
});

test.run();
