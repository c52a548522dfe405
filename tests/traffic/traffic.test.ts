import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeWorld, type World } from '../deploys/world.ts';
import { impatientFile, type Manner, trafficFile, trafficFiles } from './app.ts';
import { request, startLoad, startProxy, type Way } from './proxy.ts';

const test = suite<{ world: World; proxy: Way; dir: string }>('traffic through a socket');

test.before.each(async (context) => {
  context.world = await makeWorld();
  context.dir = join(context.world.root, 'apps/shop/instances/default');
  const socketPath = join(context.dir, 'live/app.sock');
  context.proxy = await startProxy(() => ({ socketPath }));
});
test.after.each(async ({ world, proxy }) => {
  proxy.close();
  await world.close();
});

const push = (world: World, version: string, manner: Manner = 'good', more?: string) =>
  world.push(version, {
    deploy: manner === 'good' ? trafficFile(more) : impatientFile(more),
    files: trafficFiles(version, manner),
  });

test('eight deploys, of which three fail, a rollback and a restart: no request is lost', async ({
  world,
  proxy,
  dir,
}) => {
  await push(world, 'v0');
  const first = await world.deploy();
  assert.is(first.status, 0, first.stderr);
  const load = startLoad(proxy.port);
  const bad: Record<string, Manner> = { v2: 'unhealthy', v4: 'crashing', v6: 'deaf' };
  for (const version of ['v1', 'v2', 'v3', 'v4', 'v5', 'v6', 'v7', 'v8']) {
    const manner = bad[version];
    await push(world, version, manner, 'traffic: { type: socket, drain: 3s }\n');
    const done = await world.deploy();
    assert.is(done.status, manner ? 1 : 0, done.stderr);
    assert.match(
      done.stderr,
      manner ? /goes on serving, nothing was switched/ : /probes, none failed/,
    );
  }
  assert.is((await run('runner-rollback', ['shop'], { root: world.root })).status, 0);
  const again = await run('runner-rollback', ['shop', '--to', 'v7'], { root: world.root });
  assert.is(again.status, 0, again.stderr);
  const { requests, failed, versions } = await load.end();
  assert.ok(requests > 100);
  assert.equal(failed, []);
  assert.equal(versions, ['v0', 'v1', 'v3', 'v5', 'v7', 'v8']);
  assert.is((await request(proxy.port)).version, 'v7');
  assert.is(readlinkSync(join(dir, 'current')), 'live/current');
  const failures = world.events().filter(({ event_type: kind }) => kind === 'DeployFailure');
  assert.equal([...new Set(failures.map(({ reason }) => reason))], ['nothing was switched']);
  assert.ok(failures.every(({ rolled_back }) => rolled_back === undefined));
});

test.run();
