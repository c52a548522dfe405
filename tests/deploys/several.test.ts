/** `runner deploy` of several apps. */
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeWorld, REPO, type World } from './world.ts';

const test = suite<{ world: World }>('deploy of several apps');

test.before.each(async (context) => {
  context.world = await makeWorld();
  const { root } = context.world;
  const added = await run(
    'runner-add',
    [REPO, '--branch', 'other', '--name', 'blog', '--token-from', 'shop'],
    { root },
  );
  assert.is(added.status, 0, added.stderr);
});
test.after.each(async ({ world }) => {
  await world.close();
});

const deploy = ({ root }: World, ...args: string[]) => run('runner-deploy', args, { root });
const push = (world: World, branch: string, deployFile: string) =>
  world.git.commit(REPO, { '.deploy.yml': deployFile }, branch, { branch });

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
