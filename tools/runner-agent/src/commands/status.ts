import { join } from 'node:path';
import { command } from '@runner/common/cli/command';
import { liveHolder } from '@runner/common/files/lock';
import { Failure } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { resultOf } from '@runner/fleet/order/result';
import type { ServerState } from '@runner/fleet/order/state';
import { type Agent, openAgent } from '../orders/agent.ts';
import { connect } from '../orders/connect.ts';
import { allEntries } from '../orders/ledger.ts';
import { Shipper } from '../run/ship.ts';

/** How many orders are shown, newest first. */
const SHOWN = 10;

export const status = command({
  name: 'status',
  about: 'Show whether the agent runs, its newest orders, and what is left to send',
  run: async ({ io, paths }) => ({ value: await statusOf(await openAgent(io, paths)) }),
  human: ({ server, pid, since, broker, error, events, orders }: AgentStatus, style) => {
    const runs = pid === null ? style.red('not running') : `running since ${since ?? '?'} (${pid})`;
    const there = error === null ? 'answers' : style.red(error);
    const sent = events
      ? `, ${events.sent} batches of events sent, ${events.waiting} bytes waiting`
      : '';
    return [
      `${server}  ${runs}\n`,
      broker === null ? '' : `${harmlessLine(broker)}  ${there}${sent}\n`,
      ...orders.map(
        ({ order, verb, app, by, issued, status: word }) =>
          `${issued}  ${order}  ${(word ?? 'running').padEnd(11)}  ${verb} ${harmlessLine(app)}  by ${harmlessLine(by)}\n`,
      ),
    ].join('');
  },
});

type AgentStatus = Awaited<ReturnType<typeof statusOf>>;

async function statusOf(agent: Agent) {
  const { server, broker } = agent.config;
  const holder = liveHolder(join(agent.paths.locksDir, '.agent-run.lock'));
  return {
    server,
    /** Process id of `agent run`; null: not running. */
    pid: holder?.pid ?? null,
    since: holder?.since ?? null,
    broker: broker?.url ?? null,
    ...(await askBroker(agent)),
    orders: newestOrders(agent),
  };
}

function newestOrders({ paths }: Agent) {
  return allEntries(paths)
    .map(({ order: { id, verb, app, issued }, entry }) => ({
      order: id,
      verb,
      app,
      by: entry.order.by,
      issued,
      /** null: it is running, or the agent was killed while it ran. */
      status: (entry.result && resultOf(entry.result.body)?.status) ?? null,
    }))
    .sort((a, b) => (a.issued < b.issued ? 1 : -1))
    .slice(0, SHOWN);
}

/** Error code of the broker connection; null: the broker answers. */
async function askBroker(
  agent: Agent,
): Promise<{ error: string | null; events: ServerState['events'] | null }> {
  if (!agent.config.broker) return { error: null, events: null };
  try {
    const broker = await connect(agent, 'status');
    try {
      const shipper = new Shipper(agent);
      await shipper.loadCheckpoint(broker);
      return { error: null, events: shipper.progress };
    } finally {
      await broker.close();
    }
  } catch (error) {
    if (error instanceof Failure) return { error: error.code, events: null };
    throw error;
  }
}
