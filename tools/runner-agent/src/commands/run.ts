import { join } from 'node:path';
import { command } from '@runner/common/cli/command';
import { requireLock } from '@runner/common/files/lock';
import { EXIT, Failure } from '@runner/common/foundation/failure';
import { AGENT_API } from '@runner/fleet/broker/subjects';
import { agentFiles, requireSigners } from '@runner/fleet/files/agent';
import { readSecretFile } from '@runner/fleet/order/seal';
import { INIT, openAgent } from '../orders/agent.ts';
import { serveOrders } from '../run/mailbox.ts';
import { beThere } from '../run/presence.ts';
import { shipEvents } from '../run/ship.ts';

/** Between two looks whether the state has changed, in ms. */
const STATE = 10_000;

export const run = command({
  name: 'run',
  about: 'Carry out orders from the broker until stopped',
  details:
    'Connects to the broker in agent.yml. A running deploy goes on when the agent is stopped; the next\n' +
    'agent finds its end in the log. runner-agent.service runs this command.',
  exits: [
    [75, 'The agent is already running'],
    [130, 'Interrupted'],
  ],
  plain: true,
  async run({ io, paths, note }) {
    const agent = openAgent(io, paths);
    const { broker: address, server, allowedSigners } = agent.config;
    if (!address) throw new Failure('fleet_not_configured', 'agent.yml names no broker');
    requireSigners(allowedSigners);
    const seed = readSecretFile(agentFiles(paths.root).login, INIT);
    const lock = requireLock(join(paths.locksDir, '.agent-run.lock'), 'the agent', 0, {
      pid: io.pid,
      command: 'agent run',
    });
    try {
      const { openBroker } = await import('@runner/fleet/broker/nats');
      const broker = await openBroker({ ...address, seed, name: server, api: AGENT_API });
      if (!(await broker.hasMailbox(server)))
        throw new Failure(
          'broker_unsafe',
          `the broker has no mailbox for ${server}: run runner fleet broker check`,
        );
      let stopped = false;
      io.onSignal(() => {
        stopped = true;
        void broker.close();
      });
      const storeState = beThere(agent, broker);
      const tick = () => void storeState();
      setInterval(tick, STATE).unref();
      tick();
      note(`${server} is connected to ${address.url}`);
      void shipEvents(agent, broker);
      const ended = serveOrders(agent, broker, tick);
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
