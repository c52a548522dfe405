import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { request, startLoad } from '@runner/testing/traffic-proxy';
import * as assert from 'uvu/assert';
import { suiteOf } from '../deploys/world.ts';
import { makeTrafficWorld, runningSlots } from './world.ts';

const test = suiteOf('traffic through a socket', makeTrafficWorld);

test('a deploy and one that fails lose no request', async ({ world }) => {
  const { proxy, dir } = world;
  const first = await world.ship('v0');
  assert.is(first.status, 0, first.stderr);
  assert.is(world.state().version, 2);
  const load = startLoad(proxy.port);
  const good = await world.ship('v1');
  assert.match(good.stderr, /runner deploy: \d+ probes, none failed\n/);
  const bad = await world.ship('v2', 'unhealthy');
  assert.is(bad.status, 1);
  assert.match(bad.stderr, /within 0.6 s; v1 keeps serving, nothing was switched\n/);
  const { failed, versions } = await load.end();
  assert.equal(failed, []);
  assert.equal(versions, ['v0', 'v1']);
  assert.is((await request(proxy.port)).version, 'v1');
  assert.is(readlinkSync(join(dir, 'current')), 'live/current');
  assert.equal(runningSlots(world), [world.live()]);
  const failure = world.events().find(({ event_type: kind }) => kind === 'DeployFailure');
  assert.is(failure?.reason, 'nothing was switched');
  assert.is(failure?.rolled_back, undefined);
  assert.is(failure?.gap_ms, 0);
});

test.run();
