import { join } from 'node:path';
import { command } from '@runner/common/cli/command';
import { holderFor, requireLock } from '@runner/common/files/lock';
import { EXIT, Failure } from '@runner/common/foundation/failure';
import { requireSigners } from '@runner/fleet/files/agent';
import { openAgent } from '../orders/agent.ts';
import { connect } from '../orders/connect.ts';
import { Junk } from '../run/junk.ts';
import { serveOrders } from '../run/mailbox.ts';
import { answerPings, stepPublisher } from '../run/presence.ts';
import { Shipper } from '../run/ship.ts';

/** Between two checks whether the state has changed, in ms. */
const STATE_INTERVAL = 10_000;
/** From a result to the report of the new state, in ms: an order that waits comes first. */
const STATE_DELAY = 500;

export const run = command({
  name: 'run',
  about: 'Carry out orders from the broker until stopped',
  details:
    'Connects to the broker in agent.yml. Stopping the agent does not stop a running deploy: the next agent\n' +
    'reads its outcome from the log. runner-agent.service runs this command.',
  exits: [[75, 'The agent is already running']],
  plain: true,
  async run({ io, paths, note }) {
    const agent = await openAgent(io, paths);
    const { broker: address, server, allowedSigners } = agent.config;
    requireSigners(allowedSigners);
    const path = join(paths.locksDir, '.agent-run.lock');
    using _lock = requireLock(path, 'the agent', 0, holderFor(io, 'agent run'));
    const broker = await connect(agent);
    let stopped = false;
    io.onSignal(() => {
      stopped = true;
      void broker.close();
    });
    const shipper = new Shipper(agent);
    const junk = new Junk(io);
    const storeState = answerPings(agent, broker, { shipper, junk });
    const tick = () => void storeState();
    setInterval(tick, STATE_INTERVAL).unref();
    tick();
    note(`${server} is connected to ${address?.url}`);
    void shipper.run(broker);
    const done = () => void setTimeout(tick, STATE_DELAY).unref();
    const stepping = { ...agent, step: stepPublisher(agent, broker) };
    const ended = serveOrders(stepping, broker, junk, done);
    // A refused login closes the connection for good; systemd restarts the agent.
    const error = await Promise.race([broker.closed(), ended.then(() => broker.closed())]);
    if (stopped) return { status: EXIT.ok };
    throw new Failure(
      'broker_refused',
      `the connection was closed: ${error?.message ?? 'no reason given'}`,
    );
  },
});
