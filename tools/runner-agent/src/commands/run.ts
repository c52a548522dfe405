import { join } from 'node:path';
import { command } from '@runner/common/cli/command';
import { holderFor, requireLock } from '@runner/common/files/lock';
import { EXIT, Failure } from '@runner/common/foundation/failure';
import { requireSigners } from '@runner/fleet/files/agent';
import { openAgent } from '../orders/agent.ts';
import { connect } from '../orders/connect.ts';
import { serveOrders } from '../run/mailbox.ts';
import { beThere, stepsTo } from '../run/presence.ts';
import { Shipper } from '../run/ship.ts';

/** Between two looks whether the state has changed, in ms. */
const STATE = 10_000;

export const run = command({
  name: 'run',
  about: 'Carry out the orders that come through the broker, until it is stopped',
  details:
    'Connects to the broker of agent.yml; nothing connects to this server. A deploy that runs goes on when\n' +
    'the agent is stopped; the next one finds its end in the log. runner-agent.service runs it.',
  exits: [
    [75, 'It is running already'],
    [130, 'Interrupted'],
  ],
  plain: true,
  async run({ io, paths, note }) {
    const agent = await openAgent(io, paths);
    const { broker: address, server, allowedSigners } = agent.config;
    requireSigners(allowedSigners);
    const path = join(paths.locksDir, '.agent-run.lock');
    const lock = requireLock(path, 'the agent', 0, holderFor(io, 'agent run'));
    try {
      const broker = await connect(agent);
      let stopped = false;
      io.onSignal(() => {
        stopped = true;
        void broker.close();
      });
      const shipper = new Shipper(agent);
      const storeState = beThere(agent, broker, shipper);
      const tick = () => void storeState();
      setInterval(tick, STATE).unref();
      tick();
      note(`${server} is connected to ${address?.url}`);
      void shipper.run(broker);
      const ended = serveOrders({ ...agent, step: stepsTo(agent, broker) }, broker, tick);
      // A refused login closes the connection for good: the unit tries again.
      const error = await Promise.race([broker.closed(), ended.then(() => broker.closed())]);
      if (stopped) return { status: EXIT.ok };
      throw new Failure(
        'broker_refused',
        `the connection has ended: ${error?.message ?? 'closed'}`,
      );
    } finally {
      lock.release();
    }
  },
});
