/** What a deploy finds missing on the server before it builds. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { failures, preflightSuite } from './preflight.ts';
import type { World } from './world.ts';

const test = preflightSuite('preflight');

const fetch = (world: World, env: Record<string, string> = {}) =>
  run('runner-fetch', ['--deploy'], { root: world.root, env });

test('the timer announces a missing file once, looks again each time, and deploys when it is there', async ({
  world,
  built,
}) => {
  const shared = join(world.root, 'apps/shop/instances/default/shared');
  const deploy = `shared: [.env]\nbuild: touch '${built}'\nnotify: { channel: telegram }\n`;
  await world.push('v1', { deploy });
  const missing = `shared: the file ${join(shared, '.env')} does not exist yet: create it`;
  const first = await fetch(world);
  assert.equal(
    [first.status, first.stdout],
    [1, 'shop: deploy of v1 failed at export, nothing is active\n'],
    first.stderr,
  );
  for (const _ of [1, 2, 3, 4]) {
    const again = await fetch(world);
    assert.equal([again.status, again.stdout], [0, `shop: v1 waits: ${missing}\n`], again.stderr);
  }
  assert.equal([failures(world).length, failures(world)[0]?.error], [1, missing]);
  await world.push('v2', { deploy });
  await fetch(world);
  await fetch(world);
  assert.equal(
    failures(world).map(({ version }) => version),
    ['v1', 'v2'],
  );
  assert.not.ok(existsSync(built));
  mkdirSync(shared, { recursive: true });
  writeFileSync(join(shared, '.env'), 'A=1\n');
  assert.is((await fetch(world)).stdout, 'shop: deployed v2\n');
});

test('another cause of the same commit is announced again, and a deploy by hand each time', async ({
  world,
}) => {
  const shared = join(world.root, 'apps/shop/instances/default/shared');
  await world.push('v1', { deploy: 'shared: [one, two]\n' });
  await fetch(world);
  mkdirSync(shared, { recursive: true });
  writeFileSync(join(shared, 'one'), '');
  await fetch(world);
  await fetch(world);
  assert.is(failures(world).length, 2);
  assert.is((await world.deploy()).status, 1);
  assert.is((await world.deploy()).status, 1);
  assert.is(failures(world).length, 4);
});

test.run();
