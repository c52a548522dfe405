/** `runner deploy` of several apps. */
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { deploy, push, severalSuite } from './several.ts';

const test = severalSuite('deploy of several apps');

test('several apps are deployed one after the other, and the status is the worst', async ({
  world,
}) => {
  await push(world, 'main', 'build: exit 1\n');
  await push(world, 'other', 'keep: 2\n');
  const { status, stdout } = await deploy(world, 'shop', 'blog', 'shop', '--json');
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const results = lines.filter(({ result }) => result !== undefined);
  assert.equal(
    [status, results.map(({ app, result }) => [app, result])],
    [
      1,
      [
        ['shop', 'failed'],
        ['blog', 'deployed'],
      ],
    ],
  );
  assert.is(lines.at(-1).app, 'blog');
  const people = await deploy(world, 'blog', 'shop');
  assert.match(people.stdout, /^Deployed blog \S+ in .*\nFailed shop \S+ at build .*\n$/);
  assert.is(people.status, 1);
});

test('one that is refused keeps no other from being deployed, a mistyped name all', async ({
  world,
}) => {
  await push(world, 'other', 'keep: 2\n');
  await run('runner-pause', ['shop'], { root: world.root });
  const { status, stdout, stderr } = await deploy(world, '--all');
  assert.match(stdout, /^Deployed blog \S+ in .*\n$/);
  assert.match(stderr, /^runner deploy: shop: 'shop' is paused.*--force \(paused\)$/m);
  assert.is(status, 1);
  const before = world.events().length;
  const mistyped = await deploy(world, 'blog', 'shpo');
  assert.match(mistyped.stderr, /no app called 'shpo'.* \(app_not_found\)\n$/);
  assert.equal([mistyped.status, world.events().length], [1, before]);
});

test.run();
