/** `agent run` or the operator's command killed in an order's life: each order is one deploy, and has one answer. */
import { hasBroker, whenBroker } from '@runner/testing/broker';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeWorld, type World } from '../deploys/world.ts';
import { arm, isArmed, logsAreEqual, onceEach, STEPS, sendOrder, startArmable } from './killing.ts';
import { makeStage, type Stage } from './stage.ts';

const SERVERS = STEPS.map((_, index) => `web${index + 1}`);
/** Of each step. */
const KILLS = Number(process.env.FLEET_STEP_KILLS ?? 1);
const COMMAND_KILLS = Number(process.env.FLEET_COMMAND_KILLS ?? 3);
/** In ms: longer than the command lives. */
const LONGEST = 2_000;

interface Scene extends Stage {
  world: World;
}
const test = suite<Scene>('kill steps');
const withBroker = whenBroker(test);

test.before(async (scene) => {
  if (!hasBroker()) return;
  const world = await makeWorld();
  Object.assign(scene, await makeStage(SERVERS, { world }), { world });
  await Promise.all(SERVERS.map((server) => startArmable(scene, server)));
});
test.after(async ({ close, world }) => {
  await close?.();
  await world?.close();
});

withBroker(
  `an agent killed at each step, ${KILLS} times: one deploy of each order`,
  async (scene) => {
    for (let round = 0; round < KILLS; round += 1) {
      for (const [index, server] of SERVERS.entries()) arm(scene, server, STEPS[index] as string);
      const sent = await sendOrder(scene.world, scene, SERVERS);
      await Promise.all(
        SERVERS.map(async (server) => {
          const ended = await scene.agents[server]?.done;
          assert.is(ended?.signal, 'SIGKILL', ended?.stderr);
          assert.not(isArmed(scene, server));
          await startArmable(scene, server);
        }),
      );
      await onceEach(scene, SERVERS, sent, `round ${round}`);
      if (KILLS > 1) process.stdout.write(`${(round + 1) * SERVERS.length} kills of agents\n`);
    }
  },
);

withBroker(
  `the command that sends killed ${COMMAND_KILLS} times, and repeated: one deploy of each order`,
  async (scene) => {
    const servers = SERVERS.slice(0, 2);
    for (let round = 1; round <= COMMAND_KILLS; round += 1) {
      const after = (LONGEST / COMMAND_KILLS) * round;
      const sent = await sendOrder(scene.world, scene, servers, after);
      await onceEach(scene, servers, sent, `killed after ${after} ms`);
    }
    await logsAreEqual(scene, SERVERS);
  },
);

test.run();
