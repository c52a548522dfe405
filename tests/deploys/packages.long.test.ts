/** Packages that a lock file brings: their age, and their install scripts. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  changesOf,
  envOf,
  fetch,
  GATED,
  type Locked,
  lockFile,
  push,
  withRegistry,
} from './packages.ts';
import { inWorld } from './world.ts';

const test = suite('packages of a lock file');

test('while it waits the registry is not asked again; deploy overrides, with a warning and a record', () =>
  inWorld((world) =>
    withRegistry(async (registry) => {
      registry.ages.a = { '1.0.0': 2_000, '1.1.0': 1 };
      await push(world, registry, 'v1', [['a', '1.0.0']]);
      await world.deploy();
      await push(world, registry, 'v2', [
        ['a', '1.1.0'],
        ['gone', '1.0.0'],
      ]);
      const why = 'a@1.1.0 is younger than 72 h; the age of gone@1.0.0 is not known';
      assert.is((await fetch(world, registry)).stdout, `shop: v2 waits: ${why}\n`);
      assert.is((await fetch(world, registry)).stdout, `shop: v2 waits: ${why}\n`);
      assert.is(registry.asked.length, 2);
      const check = await world.deploy(['--check', '--json'], envOf(registry));
      assert.equal(JSON.parse(check.stdout).warnings, [`fetch --deploy would wait: ${why}`]);
      const done = await world.deploy([], envOf(registry));
      assert.is(done.status, 0, done.stderr);
      assert.match(done.stderr, new RegExp(`fetch --deploy would wait: ${why}`));
      assert.equal(changesOf(world).young_packages, ['a@1.1.0', 'gone@1.0.0']);
    }),
  ));

test('what cannot be known waits: another address, a private one, a file that is not one', () =>
  inWorld((world) =>
    withRegistry(async (registry) => {
      appendFileSync(join(world.root, 'config.yml'), 'build: { min_package_age: 24h }\n');
      registry.ages.a = { '1.0.0': 2_000 };
      const files = (lock: string) => ({ deploy: '', files: { 'package-lock.json': lock } });
      await world.push('v1', files(lockFile(registry, [])));
      await world.deploy();
      const lock = lockFile(registry, [['a', '1.0.0']]);
      await world.push('v2', files(lock.replace('a-1.0.0.tgz', 'a-6.6.6.tgz')));
      const unknown = 'waits: the age of a@1.0.0 is not known\n';
      assert.is((await fetch(world, registry)).stdout, `shop: v2 ${unknown}`);
      await world.push('v3', files(lock));
      const elsewhere = { ...registry, url: 'https://registry.example.org/' };
      assert.is((await fetch(world, elsewhere)).stdout, `shop: v3 ${unknown}`);
      assert.equal(registry.asked, []);
      await world.push('v4', files('{"packages":'));
      assert.is(
        (await fetch(world, registry)).stdout,
        'shop: v4 waits: package-lock.json cannot be read: it is not JSON\n',
      );
      await world.push('v5', { deploy: '', files: { 'package-lock.json': null } });
      assert.is((await fetch(world, registry)).stdout, 'shop: v5 waits: its lock files are gone\n');
    }),
  ));

test('an app whose package manager is not known learns that nothing is compared', () =>
  inWorld(async (world) => {
    await world.push('v1', { deploy: GATED, files: { 'bun.lock': '{}' } });
    await world.deploy();
    await world.push('v2', { deploy: GATED, files: { 'bun.lock': '{"lockfileVersion": 1}' } });
    const check = await world.deploy(['--check']);
    assert.match(
      check.stdout + check.stderr,
      /min_package_age compares nothing: the commit has no/,
    );
  }));

test('a package that begins to run an install script is named in changes and in the record', () =>
  inWorld(async (world) => {
    const registry = { url: 'https://registry.example.org/' };
    const locked = (version: string, packages: readonly Locked[]) =>
      world.push(version, {
        deploy: '',
        files: { 'package-lock.json': lockFile(registry, packages) },
      });
    await world.push('v0', { deploy: '' });
    await world.deploy();
    await locked('v1', [
      ['a', '1.0.0'],
      ['b', '1.0.0', true],
    ]);
    const first = await run('runner-changes', ['shop', '--json'], { root: world.root });
    assert.equal(JSON.parse(first.stdout).new_install_scripts, ['b@1.0.0'], first.stderr);
    await world.deploy();
    assert.equal(changesOf(world).new_install_scripts, ['b@1.0.0']);
    await locked('v2', [
      ['a', '1.1.0', true],
      ['b', '1.1.0', true],
    ]);
    const listed = await run('runner-changes', ['shop'], { root: world.root });
    assert.match(
      listed.stdout,
      /^install script: a@1\.1\.0 runs one, and ran none$/m,
      listed.stderr,
    );
    const plan = await run('runner-plan', ['deploy', 'shop'], { root: world.root });
    assert.match(plan.stdout, /^ *scripts: +a@1\.1\.0 runs an install script, and ran none$/m);
    const json = await run('runner-changes', ['shop', '--json'], { root: world.root });
    assert.equal(JSON.parse(json.stdout).new_install_scripts, ['a@1.1.0']);
    assert.is((await world.deploy()).status, 0);
    assert.equal(changesOf(world).new_install_scripts, ['a@1.1.0']);
  }));

test('an app that follows paths has its lock file there', () =>
  inWorld((world) =>
    withRegistry(async (registry) => {
      appendFileSync(join(world.root, 'config.yml'), 'build: { min_package_age: 86400 }\n');
      registry.ages['@s/b'] = { '1.0.0': 1 };
      await run('runner-edit', ['shop', '--paths', 'services/shop/**,.deploy.yml'], {
        root: world.root,
      });
      // Without addresses, the registry is that of .npmrc.
      const locked = (version: string, packages: readonly Locked[]) => {
        const lock = lockFile(registry, packages).replaceAll('"resolved"', '"was"');
        const npmrc = `@other:registry=https://other.example.org\n@s:registry = ${registry.url}\n`;
        const files = {
          'services/shop/package-lock.json': lock,
          'services/shop/.npmrc': npmrc,
        };
        return world.push(version, { deploy: '', files });
      };
      await locked('v1', []);
      await world.deploy();
      await locked('v2', [['@s/b', '1.0.0']]);
      const waits = await fetch(world, registry);
      assert.match(waits.stdout, /^shop: v2 waits until .*: @s\/b@1\.0\.0 is younger than 24 h\n$/);
      const status = await run('runner-status', ['shop', '--json'], { root: world.root });
      assert.match(status.stdout, /waits until [^"]* @s\/b@1\.0\.0/);
    }),
  ));

test.run();
