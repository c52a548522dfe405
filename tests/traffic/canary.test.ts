/** A release gets a share of the requests first: it is promoted, or only its share ever met it. */
import { trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { begin, CANARY, canarySuite, nextOf, shareOf, sharesOf } from './canary.ts';
import { runningSlots } from './world.ts';

const test = canarySuite('canary');

test('a release that dies in its share is withdrawn: the others never met it', async ({
  world,
  proxy,
}) => {
  const checked = async () => {
    const { stdout } = await world.runner('deploy', 'shop', '--check', '--json');
    const { steps, canary } = JSON.parse(stdout);
    return [steps.filter((each: string) => each.includes('canary')), canary];
  };
  await world.push('v1', { deploy: trafficFile(CANARY), files: trafficFiles('v1', 'good') });
  const shares = { shares: [5, 25], for_ms: 10_000 };
  const note = 'it is the first release, which gets all requests';
  assert.equal(await checked(), [
    [`no canary (5 %, 25 %): ${note}`],
    { ...shares, instances: [], note },
  ]);
  await world.ship('v1', 'good', CANARY);
  const live = world.live();
  const words =
    'canary: 5 %, 25 % of the requests to default, each for 10 s: withdrawn if it is bad';
  assert.equal(await checked(), [[words], { ...shares, instances: ['default'], note: null }]);
  const planned = await world.runner('plan', 'deploy', 'shop', '--json');
  assert.match(JSON.parse(planned.stdout).summary.gap, words);
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
  const cause = /^canary: at 5 %: (?:health of default|process of default): /;
  assert.match(String(failed?.cause), cause);
  const why = await world.runner('why', 'shop', '--json');
  assert.match(JSON.parse(why.stdout).failure.cause, cause);
  const shown = await world.runner('watch', 'shop');
  assert.is(shown.status, 1);
  assert.match(shown.stdout, /^Bad: shop v2: canary: at 5 %: /);
});

test.run();
