/** {kill -9 at every step of a deploy, a rollback and a recovery} under load: no request is lost. */
import { killedAfter, recorded, staged } from '@runner/testing/killing';
import { trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import { request, startLoad } from '@runner/testing/traffic-proxy';
import * as assert from 'uvu/assert';
import { suiteOf } from '../deploys/world.ts';
import { makeTrafficWorld, runningSlots } from './world.ts';

const test = suiteOf('kills with traffic', makeTrafficWorld);

const written = (text: string) =>
  `name === 'renameSync' && args[1].endsWith('/state/shop.json') && /${text}/.test(text(args[1]))`;

/** When it dies, and the version that gets the requests after the next command. */
const KILLS: readonly [when: string, moment: string, after: 'v1' | 'v2'][] = [
  ['when the slot is recorded', written('"slot": "b"'), 'v1'],
  ['in the start', staged('start'), 'v1'],
  ['in the health check', staged('health'), 'v1'],
  ['before the rename', written('"draining": \\{'), 'v1'],
  ['after the rename', `name === 'renameSync' && args[1].endsWith('/live')`, 'v2'],
  ['when its success is recorded', recorded('DeploySuccess'), 'v2'],
  [
    'in the drain',
    written('"deploying": null[^]*"draining": \\{|"draining": \\{[^]*"deploying": null'),
    'v2',
  ],
];

for (const [when, moment, after] of KILLS) {
  test(`killed ${when}, the next fetch leaves ${after} in one slot, and loses nothing`, async ({
    world,
  }) => {
    await world.ship('v1');
    await world.push('v2', { deploy: trafficFile(), files: trafficFiles('v2') });
    const load = startLoad(world.proxy.port);
    const killed = await world.deploy([], killedAfter(moment));
    assert.is(killed.signal, 'SIGKILL', killed.stderr);
    const again = await world.deploy(['--ref', after]);
    assert.is(again.status, 0, again.stderr);
    assert.is((await world.runner('fetch', '--deploy')).status, 0);
    assert.equal((await load.end()).failed, []);
    assert.is((await request(world.proxy.port)).version, after);
    const { current, draining } = world.instance();
    assert.is((current as { version: string }).version, after);
    assert.is(draining ?? null, null);
    assert.equal(runningSlots(world), [world.live()]);
    assert.is(world.state().deploying, null);
  });
}

/** On the way back after a death in the drain. */
const WAY_BACK: readonly [when: string, moment: string][] = [
  ['when it is noted', written('"stage": "drain"')],
  [
    'when the requests are back',
    `name === 'renameSync' && args[1].endsWith('/live') && ++count === 2`,
  ],
  ['when its end is recorded', recorded('RollbackSuccess')],
];

for (const [when, moment] of WAY_BACK) {
  test(`killed on the way back of a version that died, ${when}, the next command finishes it once`, async ({
    world,
  }) => {
    const file = 'traffic: { type: socket, drain: 60s }\n';
    await world.ship('v0', 'good', file);
    void request(world.proxy.port, '/stream');
    await world.push('v1', { deploy: trafficFile(file), files: trafficFiles('v1', 'fading') });
    const killed = await world.deploy([], killedAfter(moment));
    assert.is(killed.signal, 'SIGKILL', killed.stderr);
    const next = await world.runner('start', 'shop');
    assert.is(next.status, 0, next.stderr);
    assert.is((await request(world.proxy.port)).version, 'v0');
    const { current } = world.instance();
    assert.is((current as { version: string }).version, 'v0');
    assert.is(world.state().deploying, null);
    assert.equal(runningSlots(world), [world.live()]);
    const ends = world
      .events()
      .filter(({ deploy_id }) => deploy_id === world.events()[2]?.deploy_id);
    assert.equal(
      ends.map(({ event_type }) => event_type),
      ['DeployStarted', 'DeploySuccess', 'DeployFailure', 'RollbackSuccess'],
    );
    assert.is((await world.runner('audit', 'verify')).status, 0);
  });
}

test('a drain that was killed is finished by fetch, and a second fetch does nothing', async ({
  world,
}) => {
  await world.ship('v1');
  await world.push('v2', { deploy: trafficFile(), files: trafficFiles('v2') });
  const inDrain = written(
    '"deploying": null[^]*"draining": \\{|"draining": \\{[^]*"deploying": null',
  );
  await world.deploy([], killedAfter(inDrain));
  assert.equal(runningSlots(world), ['a', 'b']);
  assert.is((await world.runner('fetch', '--deploy')).status, 0);
  assert.equal(runningSlots(world), ['b']);
  const before = JSON.stringify(world.instance());
  await world.runner('fetch', '--deploy');
  assert.is(JSON.stringify(world.instance()), before);
});

test.run();
