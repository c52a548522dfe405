/** A release can be restored whatever a build or an operator removed from it, or it is reported. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Ended, run, shellWord } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { deployFile, impatient, type World, worldSuite } from './world.ts';

const test = worldSuite('restorable releases');

const rollback = (world: World, ...args: string[]): Promise<Ended> =>
  run('runner-rollback', ['shop', ...args], { root: world.root });

/** Deploys a version whose build removes `.deploy.yml`. */
async function deploySlim(world: World, version: string): Promise<void> {
  await world.launch(version, { deploy: deployFile(world.port, 'build: rm .deploy.yml\n') });
}

test('a release without .deploy.yml answers again after the next deploy failed', async ({
  world,
}) => {
  await deploySlim(world, 'v1');
  await world.push('v2', { deploy: impatient(world.port), health: 503 });
  const done = await world.deploy();
  assert.match(done.stdout, /Rolled back\. v1 is active\.\n$/);
  assert.is(await world.page(), 'v1');
});

test('a rollback by hand starts it as its commit says', async ({ world }) => {
  await deploySlim(world, 'v1');
  await deploySlim(world, 'v2');
  assert.match((await rollback(world)).stdout, /from v2 to v1/);
  assert.is(await world.page(), 'v1');
});

test('runner remove stops it', async ({ world }) => {
  await deploySlim(world, 'v1');
  const done = await run('runner-remove', ['shop', '--yes'], { root: world.root });
  assert.is(done.status, 0, done.stderr);
  assert.is(await world.page(), null);
});

test('.deploy.yml is kept byte for byte as long as its release', async ({ world }) => {
  const text = deployFile(world.port, 'keep: 2\n# é\n');
  for (const version of ['v1', 'v2', 'v3']) {
    await world.launch(version, { deploy: text });
  }
  const app = join(world.root, 'apps/shop');
  const files = readdirSync(join(app, 'files'))
    .filter((name) => name.endsWith('.yml'))
    .sort();
  assert.equal(
    files,
    readdirSync(join(app, 'releases'))
      .sort()
      .map((name) => `${name}.deploy.yml`),
  );
  assert.is(readFileSync(join(app, 'files', files[1] as string), 'utf8'), text);
});

test('a release of an older runner is read from its folder, or from the mirror', async ({
  world,
}) => {
  await world.launch('v1');
  const app = join(world.root, 'apps/shop');
  await deploySlim(world, 'v2');
  rmSync(join(app, 'files'), { recursive: true });
  assert.match((await rollback(world)).stdout, /from v2 to v1/);
  assert.is(await world.page(), 'v1');
  assert.match((await rollback(world, '--to', 'v2')).stdout, /from v1 to v2/);
  assert.is(await world.page(), 'v2');
});

test('a previous version that is gone makes the rollback fail, and the app broken', async ({
  world,
}) => {
  await world.launch('v1');
  await world.push('v2', {
    deploy: impatient(world.port, `build: rm -rf ${shellWord(world.root)}/apps/shop/releases/2*\n`),
    health: 503,
  });
  const done = await world.deploy();
  assert.is(done.status, 3, done.stderr);
  assert.match(done.stdout, /v1 cannot be restored: its release is gone/);
  assert.equal(
    world.kinds().filter((kind) => kind === 'RollbackSuccess'),
    [],
  );
  const { stdout } = await run('runner-list', [], { root: world.root });
  assert.match(stdout, / broken /);
  const shown = await run('runner-status', ['shop', '--json'], { root: world.root });
  assert.match(JSON.parse(shown.stdout).next, /; run: runner deploy shop --ref v1$/);
  const back = await rollback(world, '--to', 'v1');
  assert.is(
    back.stderr,
    "runner rollback: the release of v1 of 'shop' is no longer there: run runner deploy shop --ref v1 (version_not_found)\n",
  );
});

test.run();
