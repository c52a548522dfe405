/** The broker killed at each step of an order's life: each order is one deploy with one answer, and no event is lost. */
import { hasBroker, whenBroker } from '@runner/testing/broker';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import { makeWorld, type World } from '../deploys/world.ts';
import { arm, isArmed, logsAreEqual, onceEach, STEPS, sendOrder, startArmable } from './killing.ts';
import { makeStage, type Stage } from './stage.ts';

/** Of each step. */
const KILLS = Number(process.env.FLEET_BROKER_KILLS ?? 1);
/** Brokers with a server each, which take turns at the steps: most of the time is waiting. */
const BROKERS = Number(process.env.FLEET_BROKERS ?? 4);
const SERVER = 'web1';

interface Scene {
  world: World;
  stages: Stage[];
}
const test = suite<Scene>('kill broker');
const withBroker = whenBroker(test);

test.before(async (scene) => {
  if (!hasBroker()) return;
  scene.world = await makeWorld();
  const { world } = scene;
  const brokers = Array.from({ length: BROKERS });
  scene.stages = await Promise.all(brokers.map(() => makeStage([SERVER], { world })));
  await Promise.all(scene.stages.map((stage) => startArmable(stage, SERVER)));
});
test.after(async ({ stages, world }) => {
  await Promise.all((stages ?? []).map((stage) => stage.close()));
  await world?.close();
});

withBroker(
  `the broker killed at each step, ${KILLS} times: one deploy of each order, equal logs`,
  async ({ stages, world }) => {
    const left = Array.from({ length: KILLS }, () => STEPS).flat();
    const all = left.length;
    const work = async (stage: Stage) => {
      for (let step = left.pop(); step !== undefined; step = left.pop()) {
        arm(stage, SERVER, step, stage.broker.pid());
        const sent = await sendOrder(world, stage, [SERVER]);
        await until(() => !isArmed(stage, SERVER), `${step} is not reached`);
        await stage.broker.kill();
        await stage.startBroker();
        await onceEach(stage, [SERVER], sent, step);
        if (KILLS > 1) process.stdout.write(`${all - left.length} of ${all}: ${step}\n`);
      }
      await logsAreEqual(stage, [SERVER]);
    };
    await Promise.all(stages.map(work));
  },
);

test.run();
