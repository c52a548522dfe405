/** What `fleet status` says of a server, with a real broker. */

import { hasBroker, whenBroker } from '@runner/testing/broker';
import { run } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeWorld, type World } from '../deploys/world.ts';
import { makeStage, type Stage } from './stage.ts';
import { must } from './world.ts';

const test = suite<Stage & { world: World }>('fleet status');

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

whenBroker(test)('a server whose instances run different versions is behind', async (stage) => {
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

test.run();
