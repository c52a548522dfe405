/** HOME in the sandbox: what a commit leaves there, and what it cannot. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { CACHES } from '@runner/deploy/sandbox/home';
import { checkoutFolder } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { home, inHome, REQUIRED, test } from './home.ts';

test("the operator's configuration is read and cannot be changed, and caches stay", () =>
  inHome(async (world, folder) => {
    mkdirSync(join(folder, '.cargo'), { recursive: true });
    writeFileSync(join(folder, '.npmrc'), 'registry=https://npm.example.org/\n');
    writeFileSync(join(folder, '.cargo/config.toml'), '[net]\n');
    const fill = [
      'grep -q npm.example.org ~/.npmrc && ! echo x >> ~/.npmrc && ! mv ~/.npmrc ~/.old',
      'grep -q net ~/.cargo/config.toml && ! echo x >> ~/.cargo/config.toml',
      'mkdir -p ~/.npm/_cacache ~/.cargo/registry/index go ~/go/pkg/mod && echo 1 > ~/.npm/_cacache/one',
      'echo 2 > ~/.cargo/registry/index/two && echo 3 > ~/go/pkg/mod/three && echo 4 > ~/go/bin-of-mine',
    ];
    await world.push('v1', { deploy: `build: ${JSON.stringify(fill)}\n` });
    const first = await world.deploy([], REQUIRED);
    assert.is(first.status, 0, first.stderr);
    const find = 'cat ~/.npm/_cacache/one ~/.cargo/registry/index/two ~/go/pkg/mod/three > found';
    const gone = '! ls ~/go/bin-of-mine';
    await world.push('v2', {
      deploy: `build: ${JSON.stringify([find, gone])}\nhooks: { post_deploy: "cat ~/.npm/_cacache/one ~/.npmrc" }\n`,
    });
    const second = await world.deploy([], REQUIRED);
    assert.is(second.status, 0, second.stderr);
    const current = join(world.root, 'apps/shop/instances/default/current');
    assert.is(readFileSync(join(current, 'found'), 'utf8'), '1\n2\n3\n');
    assert.is(readFileSync(join(folder, '.cargo/config.toml'), 'utf8'), '[net]\n');
  }));

test('a folder that config.yml allows in HOME is made, and stays', () =>
  inHome(async (world, folder) => {
    const allow = JSON.stringify({ shop: [join(folder, '.rustup')] });
    appendFileSync(join(world.root, 'config.yml'), `sandbox: { allow: ${allow} }\n`);
    await world.push('v1', { deploy: 'build: "mkdir -p ~/.rustup && touch ~/.rustup/kept"\n' });
    const done = await world.deploy([], REQUIRED);
    assert.is(done.status, 0, done.stderr);
    assert.ok(existsSync(join(folder, '.rustup/kept')));
  }));

test('a folder that config.yml allows in a cache is not made where a link of a build leads', () =>
  inHome(async (world, folder) => {
    const outside = join(world.root, '..', 'outside');
    mkdirSync(outside);
    const allow = JSON.stringify({ shop: [join(folder, '.cache/tools/kept')] });
    appendFileSync(join(world.root, 'config.yml'), `sandbox: { allow: ${allow} }\n`);
    const link = `mv ~/.cache/tools ~/.cache/old; ln -s ${outside} ~/.cache/tools`;
    for (const [version, build] of [
      ['v1', link],
      ['v2', 'true'],
    ] as const) {
      await world.push(version, { deploy: `build: "${build}"\n` });
      const done = await world.deploy([], REQUIRED);
      assert.is(done.status, 0, done.stderr);
    }
    assert.equal(readdirSync(outside), []);
  }));

test('a link that an earlier commit left in HOME shows nothing', () =>
  inHome(async (world, folder) => {
    mkdirSync(folder, { recursive: true });
    symlinkSync(join(world.root, 'mkey'), join(folder, '.netrc'));
    symlinkSync(join(world.root, 'state'), join(folder, '.cache'));
    await world.push('v1', { deploy: 'build: "! cat ~/.netrc && ! ls ~/.cache/"\n' });
    const done = await world.deploy([], REQUIRED);
    assert.is(done.status, 0, done.stderr);
  }));

home('docs/sandbox.md lists the caches that stay', () => {
  const page = readFileSync(join(checkoutFolder(), 'docs/sandbox.md'), 'utf8');
  const [, list = ''] = /caches stay\*\* and can be written: ([^;]+);/.exec(page) ?? [];
  assert.equal(
    [...list.matchAll(/`([^`]+)`/g)].map(([, path]) => path),
    CACHES,
  );
});

home.run();
