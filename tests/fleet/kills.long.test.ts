/** `agent exec` killed at any moment: the order is carried out once, and its result is found. */
import { runKilled } from '@runner/testing/killing';
import { run } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makeWorld } from '../deploys/world.ts';
import { makeOperator, resultIn } from './world.ts';

const SEEDS = Number(process.env.FLEET_KILLS ?? 25);
/** In ms: longer than an order takes. */
const LONGEST = 1_500;

test(`${SEEDS} kills: one DeployStarted for each order, and every order has its result`, async () => {
  const world = await makeWorld();
  const operator = await makeOperator();
  await operator.enrol('web1', world.root);
  try {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const ref = await world.push(`v${seed}`, { deploy: 'build: sleep 0.2\n' });
      const stdin = operator.signed('deploy', 'shop', { ref });
      // What it began is in a group of its own, and goes on.
      const exec = { tool: 'runner-agent', args: ['exec'], stdin };
      await runKilled(exec, { ms: (LONGEST / SEEDS) * seed }, world.root);
      const again = await run('runner-agent', ['exec'], { root: world.root, stdin });
      const result = resultIn(again.stdout);
      assert.equal([seed, result.status], [seed, 'deployed'], again.stderr + again.stdout);
      const starts = world
        .events()
        .filter(
          ({ event_type: kind, version }) => kind === 'DeployStarted' && version === `v${seed}`,
        );
      assert.equal(
        starts.map(({ deploy_id: id }) => id),
        [result.deploy_id],
        `seed ${seed}`,
      );
      assert.is(
        (await run('runner-agent', ['exec'], { root: world.root, stdin })).stdout,
        again.stdout,
      );
    }
  } finally {
    await world.close();
  }
});

test.run();
