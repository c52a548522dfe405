/** Folders that a build made read-only are removed, and hide no error; a file in the place of a folder is named. */
import { chownSync, lstatSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { executable, shell, shellWord } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { worldSuite } from './world.ts';

const test = worldSuite('read only');

const NOBODY = 65_534;

test('a failed build that left a read-only folder is reported as itself, and cleaned up', async ({
  world,
}) => {
  const build = 'build: "mkdir -p go/pkg && touch go/pkg/a && chmod 555 go/pkg go; exit 3"\n';
  await world.push('v1', { deploy: build });
  const uid = process.getuid?.() === 0 ? NOBODY : undefined;
  const paths = readdirSync(world.root, { recursive: true, encoding: 'utf8' });
  for (const path of ['..', '.', ...paths]) {
    const full = join(world.root, path);
    if (uid !== undefined && !lstatSync(full).isSymbolicLink()) chownSync(full, uid, uid);
  }
  const as = uid === undefined ? '' : `setpriv --reuid ${uid} --regid ${uid} --clear-groups `;
  const command = `exec ${as}${shellWord(executable('runner-deploy'))} shop`;
  const done = await shell(command, { root: world.root, cwd: '/' });
  assert.is(done.status, 1);
  assert.match(done.stderr, /build: `.*` ended with status 3/);
  assert.is((world.state().failures as { count: number }).count, 1);
  assert.equal(readdirSync(join(world.root, 'apps/shop/releases')), []);
});

test('a file in the place of an instance is named, and the next deploy works without it', async ({
  world,
}) => {
  const instance = join(world.root, 'apps/shop/instances/default');
  await world.launch('v1');
  renameSync(instance, `${instance}.away`);
  writeFileSync(instance, '');
  await world.push('v2');
  const failed = await world.deploy();
  assert.is(failed.status, 1);
  assert.match(failed.stderr, /current: a part of its path is not a directory/);
  assert.not.match(failed.stderr, /bug|ENOTDIR/);
  rmSync(instance);
  renameSync(`${instance}.away`, instance);
  const done = await world.deploy();
  assert.is(done.status, 0, done.stderr);
});

test.run();
