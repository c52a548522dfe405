import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { changesOf, fetch, HOUR, push, withRegistry } from './packages.ts';
import { inWorld, type World } from './world.ts';

const test = suite('packages of a lock file');

/** The next fetch asks again, as it does after an hour. */
function later(world: World, again = '2026-01-01T00:00:00.000Z'): void {
  const { package_age: age, ...state } = world.state() as { package_age: object };
  const past = { ...state, package_age: { ...age, again } };
  writeFileSync(join(world.root, 'state/shop.json'), JSON.stringify(past));
}

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

test('a commit that was looked at by a clock a year ahead does not wait until then', () =>
  inWorld((world) =>
    withRegistry(async (registry) => {
      registry.ages.a = { '1.0.0': 2_000, '1.1.0': 1 };
      await push(world, registry, 'v1', [['a', '1.0.0']]);
      await fetch(world, registry);
      await push(world, registry, 'v2', [['a', '1.1.0']]);
      assert.match((await fetch(world, registry)).stdout, 'shop: v2 waits until');
      registry.ages.a = { '1.1.0': 73 };
      later(world, new Date(Date.now() + 8_760 * HOUR).toISOString());
      assert.is((await fetch(world, registry)).stdout, 'shop: deployed v2\n');
    }),
  ));

test.run();
