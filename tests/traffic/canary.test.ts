/** A release gets a share of the requests first: it is promoted, or only its share ever met it. */
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { begin, CANARY, canarySuite, nextOf, shareOf, sharesOf } from './canary.ts';
import { runningSlots } from './world.ts';

const test = canarySuite('canary');

test('a release that dies in its share is withdrawn: the others never met it', async ({
  world,
  proxy,
}) => {
  await world.ship('v1', 'good', CANARY);
  const live = world.live();
  const deploy = await begin(world, 'v2', 'fading');
  await until(() => sharesOf(world) === 1, 'no share');
  const done = await deploy.done;
  assert.is(done.status, 1, done.stderr);
  assert.match(done.stderr, /canary: at 5 %: (?:health of default|process of default)/);
  assert.equal([world.live(), sharesOf(world), nextOf(world)], [live, 0, live]);
  assert.equal(await shareOf(proxy.port, 'v1'), { share: 100, lost: 0 });
  assert.equal(runningSlots(world), [live]);
  const failed = world.events().at(-1);
  assert.equal([failed?.event_type, failed?.stage], ['DeployFailure', 'canary']);
});

test.run();
