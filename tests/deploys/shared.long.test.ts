import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import * as assert from 'uvu/assert';
import { inCurrent } from './shared.ts';
import { type World, worldSuite } from './world.ts';

const test = worldSuite('shared');

const sharedOf = (world: World) => join(world.root, 'apps/shop/instances/default/shared');

for (const [shared, build, what] of [
  ['uploads/', 'rm -rf uploads && mkdir uploads', 'replaced uploads/ by a folder of its own'],
  ['settings', 'rm settings && echo x > settings', 'replaced settings by a file of its own'],
  ['uploads/', 'rm -rf uploads', 'removed uploads/'],
  ['uploads/', 'rm uploads && ln -s /tmp uploads', 'replaced uploads/ by a link of its own'],
] as const) {
  test(`a build that ${what} fails`, async ({ world }) => {
    await world.push('v1', {
      deploy: `shared: [${shared}]\nbuild: ${build}\n`,
      files: { settings: 'a\n' },
    });
    assert.is((await world.deploy()).status, 1);
    assert.is(
      world.events().at(-1)?.error,
      `build: the build ${what}: exclude it from its clean step`,
    );
    assert.is((world.state().failures as { count: number }).count, 1);
  });
}

test('files that a failed first deploy wrote into shared stay', async ({ world }) => {
  const deploy = 'shared: [data/]\nbuild: echo user > data/upload && exit 1\n';
  await world.push('v1', { deploy, files: { 'data/seed': 'one' } });
  assert.is((await world.deploy()).status, 1);
  assert.is(readFileSync(join(sharedOf(world), 'data/upload'), 'utf8'), 'user\n');
});

test('a link that an app makes below shared does not redirect files of a commit', async ({
  world,
}) => {
  mkdirSync(sharedOf(world), { recursive: true });
  for (const target of [join(world.root, 'state'), '../../../../../state']) {
    symlinkSync(target, join(sharedOf(world), 'data'));
    for (const path of ['data/evil.json', 'data/sub/']) {
      const files = { 'data/evil.json': '{}', 'data/sub/seed': 'x' };
      await world.push('v1', { deploy: `shared: [${path}]\n`, files });
      assert.is((await world.deploy()).status, 1);
      assert.match(
        String(world.events().at(-1)?.error),
        /shared\/data is not a plain folder: runner follows no link there$/,
      );
    }
    rmSync(join(sharedOf(world), 'data'));
  }
  assert.equal(readdirSync(join(world.root, 'state')), ['shop.json']);
});

test('shared on a file system of its own gets the first content as well', async ({ world }) => {
  const volume = mkdtempSync('/dev/shm/shared-');
  try {
    if (statSync(volume).dev === statSync(world.root).dev) return;
    mkdirSync(dirname(sharedOf(world)), { recursive: true });
    symlinkSync(volume, sharedOf(world));
    await world.launch('v1', {
      deploy: 'shared: [data/, settings]\n',
      files: { 'data/sub/seed': 'one', settings: 'one' },
    });
    assert.is(readFileSync(join(volume, 'data/sub/seed'), 'utf8'), 'one');
    writeFileSync(join(volume, 'settings'), 'mine');
    assert.is(inCurrent(world, 'settings'), 'mine');
  } finally {
    rmSync(volume, { recursive: true, force: true });
  }
});

test('the newest failed release is kept for inspection, even if the clock changed', async ({
  world,
}) => {
  const failing = 'health: { cmd: "false", interval: 50ms, within: 60ms }\n';
  const releases = join(world.root, 'apps/shop/releases');
  mkdirSync(join(releases, '29990101T000000Z-000000000000'), { recursive: true });
  await world.push('v1', { deploy: failing });
  assert.is((await world.deploy()).status, 1);
  const { readdirSync } = process.getBuiltinModule('node:fs');
  assert.equal(readdirSync(releases).length, 1);
  assert.not.match(readdirSync(releases)[0] ?? '', /^2999/);
});

test.run();
