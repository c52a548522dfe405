/** Packages that a lock file brings: their age, and their install scripts. */
import { once } from 'node:events';
import { appendFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inWorld, type World } from './world.ts';

const test = suite('packages of a lock file');

const HOUR = 3_600_000;

interface Registry {
  readonly url: string;
  /** Ages in hours by package and version. */
  readonly ages: Record<string, Record<string, number>>;
  readonly asked: string[];
}

/** A registry on loopback, to which npm is set as far as runner asks it. */
async function withRegistry(body: (registry: Registry) => Promise<void>): Promise<void> {
  const ages: Registry['ages'] = {};
  const asked: string[] = [];
  const server = createServer((request, answer) => {
    const name = decodeURIComponent((request.url ?? '').slice(1));
    asked.push(name);
    const times = Object.entries(ages[name] ?? {}).map(([version, hours]) => {
      return [version, new Date(Date.now() - hours * HOUR).toISOString()];
    });
    answer.statusCode = ages[name] ? 200 : 404;
    answer.end(JSON.stringify({ name, time: Object.fromEntries(times) }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  try {
    await body({ url, ages, asked });
  } finally {
    server.close();
  }
}

type Locked = readonly [name: string, version: string, script?: boolean];

function lockFile({ url }: Pick<Registry, 'url'>, packages: readonly Locked[]): string {
  const entries = packages.map(([name, version, hasInstallScript = false]) => {
    const resolved = `${url}${name}/-/${name.replace(/.*\//, '')}-${version}.tgz`;
    return [
      `node_modules/${name}`,
      { version, resolved, ...(hasInstallScript && { hasInstallScript }) },
    ];
  });
  return JSON.stringify({ lockfileVersion: 3, packages: Object.fromEntries(entries) });
}

const GATED = 'min_package_age: 4320m\n';

function push(world: World, registry: Registry, version: string, packages: readonly Locked[]) {
  return world.push(version, {
    deploy: GATED,
    files: { 'package-lock.json': lockFile(registry, packages) },
  });
}

const envOf = ({ url }: Registry) => ({ npm_config_registry: url });
const fetch = (world: World, registry: Registry, ...args: string[]) =>
  run('runner-fetch', ['--deploy', ...args], { root: world.root, env: envOf(registry) });

/** The next fetch asks again, as it does after an hour. */
function later(world: World): void {
  const { package_age: age, ...state } = world.state() as { package_age: object };
  const past = { ...state, package_age: { ...age, again: '2026-01-01T00:00:00.000Z' } };
  writeFileSync(join(world.root, 'state/shop.json'), JSON.stringify(past));
}

const changesOf = (world: World) => world.events().at(-1)?.changes as Record<string, unknown>;

test('a commit with a young package waits, is named once, and is deployed later', () =>
  inWorld((world) =>
    withRegistry(async (registry) => {
      registry.ages.a = { '1.0.0': 2_000, '1.1.0': 71 };
      registry.ages['@s/b'] = { '1.0.0': 100 };
      await push(world, registry, 'v1', [['a', '1.0.0']]);
      assert.is((await fetch(world, registry)).stdout, 'shop: deployed v1\n');
      assert.equal(registry.asked, [], 'the first deploy has nothing to compare with');
      await push(world, registry, 'v2', [
        ['a', '1.1.0'],
        ['@s/b', '1.0.0'],
      ]);
      const waits = await fetch(world, registry, '--json');
      assert.is(waits.status, 0, waits.stderr);
      const { result, text } = JSON.parse(waits.stdout);
      assert.is(result, 'young');
      assert.match(text, /^v2 waits until \S+ \S+ UTC: a@1\.1\.0 is younger than 72 h$/);
      assert.equal(registry.asked.sort(), ['@s/b', 'a']);
      assert.equal(world.kinds().at(-1), 'DeployWaiting');
      const status = await run('runner-status', ['shop'], { root: world.root });
      assert.match(
        status.stdout.replace(/\s+/g, ' '),
        /waits until .* a@1\.1\.0 is younger than 72 h/,
      );
      registry.ages.a = { '1.1.0': 73 };
      later(world);
      const deployed = await fetch(world, registry);
      assert.is(deployed.stdout, 'shop: deployed v2\n', deployed.stderr);
      assert.is(changesOf(world).young_packages, undefined);
      assert.is(world.kinds().filter((kind) => kind === 'DeployWaiting').length, 1);
    }),
  ));

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
    }),
  ));

test('a package that begins to run an install script is named in changes and in the record', () =>
  inWorld(async (world) => {
    const registry = { url: 'https://registry.example.org/' };
    const locked = (version: string, packages: readonly Locked[]) =>
      world.push(version, {
        deploy: '',
        files: { 'package-lock.json': lockFile(registry, packages) },
      });
    await locked('v1', [
      ['a', '1.0.0'],
      ['b', '1.0.0', true],
    ]);
    await world.deploy();
    assert.is(changesOf(world).new_install_scripts, undefined);
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
