/** A release is judged after it is live: it passes, is left for the version before, or cannot be judged. */
import { startLoad } from '@runner/testing/traffic-proxy';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { isOver, recordOf, shipWatched, watchSuite } from './watch.ts';
import { runningSlots } from './world.ts';

const test = watchSuite('watch');

test('a release that dies is left for the version before, which kept running, and is held', async ({
  world,
}) => {
  await shipWatched(world, '5m', 'fading');
  const load = startLoad(world.proxy.port);
  await until(isOver(world), 'the watch does not end');
  await load.end();
  assert.is(await world.page(), null);
  const { current } = world.instance() as { current: { version: string } };
  assert.is(current.version, 'v1');
  const failed = recordOf(world, 'WatchFailed');
  assert.match(
    String(failed?.reason),
    /^(?:health of default: .* failed.*; )?process of default: it has ended; output of default: last error line: FATAL: out of memory for carts$/,
  );
  const back = recordOf(world, 'RollbackSuccess');
  assert.equal([back?.version, back?.from_version, back?.user], ['v1', 'v2', 'watch']);
  assert.match(String(back?.reason), /^watch: /);
  const { held } = world.state() as { held: { reason: string } };
  assert.match(held.reason, /^v2 failed its watch: /);
  const fetched = await world.runner('fetch', '--deploy');
  assert.match(fetched.stdout, 'shop: on hold: v2');
  const why = await world.runner('debug', 'last-error', 'shop');
  assert.match(
    why.stderr,
    /v2 was deployed later and judged bad at .*Z: .* \(runner watch shop\)\n$/,
  );
  const shown = await world.runner('watch', 'shop');
  assert.is(shown.status, 1);
  assert.match(shown.stdout, /^Bad: shop v2: /);
  await until(() => runningSlots(world).length === 1, 'the bad version still runs');
  assert.is((await world.runner('audit', 'verify')).status, 0);
});

test.run();
