/** Messages in a mailbox that are not orders: they are discarded and counted, and orders are carried out. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasBroker, whenBroker } from '@runner/testing/broker';
import { run } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openBroker } from '../../libs/fleet/src/broker/nats.ts';
import { makeStage, type Stage } from './stage.ts';
import { CONTROL } from './stolen.ts';

const test = suite<Stage>('junk');
const withBroker = whenBroker(test);
/** More than a consumer holds unacknowledged by default. */
const MANY = 1_100;

test.before(async (stage) => {
  if (hasBroker()) Object.assign(stage, await makeStage(['web1']));
});
test.after(({ close }) => close?.());

const JUNK = ['junk', '{}', CONTROL, '{"by":"alice","sig":"","body":"{}"}'];

withBroker(
  'junk in a mailbox is discarded for good, counted, and hides no order',
  async (stage) => {
    const { operator, broker, fleet, startAgent } = stage;
    const seed = readFileSync(join(operator.root, 'fleet/operator.nk'), 'utf8').trim();
    const owner = await openBroker({ url: broker.url, ca: undefined, seed, name: 'test' });
    for (let sent = 0; sent < MANY; sent += 1)
      await owner.store('runner.order.web1', JUNK[sent % JUNK.length] as string);
    await owner.close();
    const agent = await startAgent('web1');
    const held = await fleet('hold', 'shop', '--wait', '10s');
    assert.equal([held.lines[1]?.status, held.lines[1]?.code], ['failed', 'app_not_found']);
    const counted = async () => {
      const servers = (await fleet('status')).lines[0]?.servers as { junk: number }[];
      return servers[0]?.junk === MANY;
    };
    await until(counted, 'not all are counted');
    assert.match(
      (await operator.fleet(['status'])).stdout,
      /1100 messages in its mailbox were not orders/,
    );
    assert.match(agent.stderr(), /in the mailbox .* not an order.* \(order_invalid\)/);
    for (const count of [1, 10, 100, 1_000])
      assert.match(agent.stderr(), ` not an order, ${count} so far (order_invalid)\n`);
    assert.ok(agent.stderr().split('\n').length < 20, 'once a minute, not once for each');
    process.kill(agent.pid, 'SIGINT');
    const { stdout: help } = await run('runner-agent', ['run', '--help']);
    assert.equal([(await agent.done).status, help.match(/130/)], [0, null]);
  },
);

test.run();
