/** `runner deploy` of several apps. */
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { deploy, push, severalSuite } from './several.ts';

const test = severalSuite('deploy of several apps');

test('--dry-run is --check; apps are named, or --all', async ({ world }) => {
  const { root } = world;
  await push(world, 'main', 'keep: 2\n');
  await push(world, 'other', 'keep: 2\n');
  const dry = await deploy(world, 'blog', 'shop', '--dry-run', '--json');
  const plans = dry.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(
    [dry.status, plans.map(({ app, result }) => [app, result])],
    [
      0,
      [
        ['blog', 'valid'],
        ['shop', 'valid'],
      ],
    ],
  );
  assert.equal(world.events(), []);
  const none = await deploy(world);
  assert.equal(
    [none.status, none.stderr],
    [
      2,
      'error: the following required arguments were not provided: <APP|--all>; runner list shows all apps\n',
    ],
  );
  const both = await deploy(world, 'shop', '--all');
  assert.is(both.stderr, "error: the argument '--all' cannot be used with '[APPS]...'\n");
  const empty = await run('runner-deploy', ['--all', '--root', join(root, 'none')], { root });
  assert.equal([empty.status, empty.stdout], [0, '']);
});

test('--all leaves out an app on hold, and says so', async ({ world }) => {
  await push(world, 'main', 'keep: 2\n');
  await push(world, 'other', 'keep: 2\n');
  assert.is((await deploy(world, '--all')).status, 0);
  await push(world, 'main', 'keep: 3\n');
  assert.is((await deploy(world, 'shop')).status, 0);
  assert.is((await run('runner-rollback', ['shop'], { root: world.root })).status, 0);
  const { status, stdout, stderr } = await deploy(world, '--all');
  assert.is(status, 0);
  assert.match(stdout, /^Deployed blog [^\n]*\n$/);
  assert.match(stderr, 'runner deploy: shop is on hold, and is left out: runner deploy shop\n');
});

test.run();
