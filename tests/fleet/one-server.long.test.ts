/** A fleet of one server, with a real broker: what is shown of it, and orders that meet. */

import { hasBroker, whenBroker } from '@runner/testing/broker';
import { run } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeWorld, type World } from '../deploys/world.ts';
import { makeStage, type Stage } from './stage.ts';
import { must } from './world.ts';

const test = suite<Stage & { world: World }>('fleet of one server');

test.before(async (scene) => {
  if (!hasBroker()) return;
  const world = await makeWorld();
  Object.assign(scene, await makeStage(['web1'], { world }), { world });
  await scene.startAgent('web1');
});
test.after(async ({ close, world }) => {
  await close?.();
  await world?.close();
});

const withBroker = whenBroker(test);

withBroker('a server whose instances run different versions is behind', async (stage) => {
  for (const version of ['v1', 'v2']) {
    const deploy = 'build: "true"\ninstances: { a: {}, b: {} }\n';
    await stage.world.push(version, { deploy });
    const { status, stdout } = await stage.fleet('deploy', 'shop');
    assert.is(status, 0, stdout);
  }
  const root = stage.roots.web1 as string;
  await must(run('runner-rollback', ['shop', '--instance', 'b'], { root }));
  const { stdout } = await stage.operator.fleet(['status', 'shop']);
  assert.match(stdout, / shop v2,v1 on hold, behind$/m);
  const behind = await stage.fleet('deploy', 'shop', '--behind', '--plan');
  assert.equal(behind.lines[0]?.batches, [['web1']]);
});

withBroker(
  'a rollback does not wait for the watch of the release that it leaves',
  async (stage) => {
    const start = 'build: "true"\nstart: { type: command, run: "true" }\nstop: "true"\n';
    const watched = `${start}health: { cmd: "true" }\nwatch: { for: 5m, run: "true" }\n`;
    for (const deploy of [start, watched]) {
      await stage.world.push(`w${deploy.length}`, { deploy });
      await stage.fleet('deploy', 'shop', '--wait', '8s');
    }
    const { lines: shown } = await stage.fleet('rollouts');
    const rollout =
      (shown[0]?.rollouts as { rollout: string }[] | undefined)?.at(-1)?.rollout ?? '';
    const { status, lines: all, stdout } = await stage.fleet('rollback', 'shop', '--wait', '30s');
    assert.equal([status, all[1]?.status], [0, 'rolled_back'], stdout);
    await until(async () => {
      const { lines: ended } = await stage.fleet('results', rollout);
      return ended[0]?.code === 'not_judged';
    }, 'the deploy has no result');
  },
);

test.run();
