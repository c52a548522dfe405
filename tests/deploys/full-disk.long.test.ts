/** What operators do on a full disk: what runs goes on, and what is said of it is true. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import { request, startProxy } from '@runner/testing/traffic-proxy';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { smallDisk } from './full-disk.ts';
import { makeWorld } from './world.ts';

test('what is stopped starts although its state cannot be written, with traffic too', async () => {
  const world = await makeWorld({ parent: '/tmp' });
  const own = join(world.root, 'apps/shop/instances/default');
  const proxy = await startProxy(() => ({ socketPath: join(own, 'live/app.sock') }));
  const pages = [() => world.page(), async () => (await request(proxy.port)).version];
  for (const [at, page] of pages.entries()) {
    const version = `v${at}`;
    const file = { deploy: trafficFile(), files: trafficFiles(version) };
    await world.launch(version, at === 0 ? {} : file);
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

test('without a free inode, what a command starts and stops can still be stopped', async () => {
  const parent = mkdtempSync('/tmp/runner-full-');
  const disk = smallDisk(parent, '48m,nr_inodes=3000');
  if (!disk) return;
  const world = await makeWorld({ parent });
  const stopped = join(temporaryFolder('stopped'), 'there');
  const deploy = `start: { type: command, run: "true" }\nstop: "touch ${stopped}"\n`;
  await world.launch('v0', { deploy });
  mkdirSync(join(parent, 'many'));
  spawnSync('sh', ['-c', 'i=0; while : > many/$i; do i=$((i+1)); done'], { cwd: parent });
  const { stderr } = await run('runner-stop', ['shop'], { root: world.root });
  assert.match(stderr, /ok {5}stop default .*\n.*the change was not saved \(disk_full\)\n$/);
  assert.ok(existsSync(stopped));
  await world.close();
  disk.remove();
});

test('a rollback that no state could keep says so, and is repeated once there is space', async () => {
  const world = await makeWorld();
  for (const version of ['v0', 'v1']) await world.launch(version);
  const state = readFileSync(join(world.root, 'state/shop.json'));
  const disk = smallDisk(join(world.root, 'state'), '16k');
  if (!disk) return;
  writeFileSync(join(world.root, 'state/shop.json'), state);
  disk.fill();
  const back = () => run('runner-rollback', ['shop'], { root: world.root });
  const unsaved = await back();
  assert.is(unsaved.status, 1);
  assert.match(unsaved.stderr, /ok {5}roll back .*\n.*the change was not saved \(disk_full\)\n$/);
  assert.not.match(unsaved.stderr, /the next command corrects/);
  assert.is(await world.page(), 'v0');
  rmSync(join(world.root, 'state/full'));
  assert.is((await back()).stdout.replace(/ \[.*/, ''), 'Rolled back shop from v1 to v0\n');
  assert.is((await run('runner-restart', ['shop'], { root: world.root })).status, 0);
  assert.is(await world.page(), 'v0');
  disk.remove();
  await world.close();
});

test.run();
