import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { type World, worldSuite } from './world.ts';

const test = worldSuite('deploy --instance');

const TWO = 'keep: 2\ninstances: { eu: { env: { AT: eu } }, us: { env: { AT: us } } }\n';

function active(world: World, instance: string): string | undefined {
  const file = join(world.root, `apps/shop/instances/${instance}/current/VERSION`);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}

interface States {
  [instance: string]: { current: { version: string } | null; previous: { version: string }[] };
}

const instances = (world: World) => world.state().instances as States;

test('only that instance is deployed, with its own environment; the others stay as they are', async ({
  world,
}) => {
  await world.launch('v1', { deploy: TWO });
  await world.push('v2', { deploy: `${TWO}build: echo $AT > where\n` });
  const done = await world.deploy(['--instance', 'us', '--json']);
  assert.is(done.status, 0, done.stderr);
  assert.equal([active(world, 'eu'), active(world, 'us')], ['v1', 'v2']);
  const where = join(world.root, 'apps/shop/instances/us/current/where');
  assert.is(readFileSync(where, 'utf8'), 'us\n');
  const last = JSON.parse(done.stdout.trimEnd().split('\n').at(-1) ?? '');
  assert.equal([last.result, last.instance, last.previous_version], ['deployed', 'us', 'v1']);
  assert.equal(
    world
      .events()
      .slice(4)
      .map((event) => [event.event_type, event.instance]),
    [
      ['DeployStarted', 'us'],
      ['DeploySuccess', 'us'],
    ],
  );
  const { eu, us } = instances(world);
  assert.equal([eu?.current?.version, us?.current?.version], ['v1', 'v2']);
  assert.equal([eu?.previous, us?.previous.map((each) => each.version)], [[], ['v1']]);
});

test('a release that another instance runs is never pruned, after any number of deploys', async ({
  world,
}) => {
  await world.push('v1', { deploy: TWO });
  await world.deploy();
  for (const version of ['v2', 'v3', 'v4']) {
    await world.push(version, { deploy: TWO });
    assert.is((await world.deploy(['--instance', 'us'])).status, 0);
  }
  assert.equal([active(world, 'eu'), active(world, 'us')], ['v1', 'v4']);
  assert.is(readdirSync(join(world.root, 'apps/shop/releases')).length, 3);
});

test('the timer keeps the choice, and a deploy of all instances lifts it', async ({ world }) => {
  await world.push('v1', { deploy: TWO });
  await world.deploy();
  await world.push('v2', { deploy: TWO });
  await world.deploy(['--instance', 'us']);
  const left = await run('runner-fetch', ['--deploy'], { root: world.root });
  assert.equal([left.status, left.stdout], [0, 'shop: on hold: v2 was deployed by hand\n']);
  assert.is((await world.deploy()).status, 0);
  assert.is(active(world, 'eu'), 'v2');
  assert.is(world.state().held, null);
});

test('a failing instance is rolled back, and the other one is left alone', async ({ world }) => {
  await world.push('v1', { deploy: TWO });
  await world.deploy();
  await world.push('v2', { deploy: `${TWO}start: { type: command, run: exit 4 }\n` });
  const done = await world.deploy(['--instance', 'eu']);
  assert.is(done.status, 1);
  assert.equal([active(world, 'eu'), active(world, 'us')], ['v1', 'v1']);
  assert.equal(
    world
      .events()
      .slice(5)
      .map((event) => [event.event_type, event.instance]),
    [
      ['DeployFailure', 'eu'],
      ['RollbackSuccess', 'eu'],
    ],
  );
});

test('an unknown instance is refused with those that there are, and nothing is begun', async ({
  world,
}) => {
  await world.push('v1', { deploy: TWO });
  for (const name of ['asia', '__proto__', '../eu']) {
    const done = await world.deploy(['--instance', name]);
    assert.is(done.status, 1);
    assert.ok(
      done.stderr.endsWith(
        `runner deploy: .deploy.yml of v1 has no instance '${name}'; it has: eu, us (instance_not_found)\n`,
      ),
      done.stderr,
    );
  }
  assert.equal(world.kinds(), []);
});

test.run();
