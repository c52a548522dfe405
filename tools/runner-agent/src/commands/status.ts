import { join } from 'node:path';
import { command } from '@runner/common/cli/command';
import { liveHolder } from '@runner/common/files/lock';
import { Failure } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import type { OrderStatus } from '@runner/fleet/order/result';
import { resultOf } from '@runner/fleet/order/result';
import type { ServerState } from '@runner/fleet/order/state';
import { type Agent, openAgent } from '../orders/agent.ts';
import { connect } from '../orders/connect.ts';
import { allEntries } from '../orders/ledger.ts';
import { Shipper } from '../run/ship.ts';

interface OrderRow {
  readonly order: string;
  readonly verb: string;
  readonly app: string;
  readonly by: string;
  readonly issued: string;
  /** null: it is running, or the agent was killed while it ran. */
  readonly status: OrderStatus | null;
}

interface AgentStatus {
  readonly server: string;
  /** Process id of `agent run`; null: not running. */
  readonly pid: number | null;
  readonly since: string | null;
  readonly broker: string | null;
  /** Error code of the broker connection; null: the broker answers. */
  readonly error: string | null;
  readonly events: ServerState['events'] | null;
  readonly orders: readonly OrderRow[];
}

/** How many orders are shown, newest first. */
const SHOWN = 10;

export const status = command({
  name: 'status',
  about: 'Show whether the agent runs, its newest orders, and what is left to send',
  async run({ io, paths }) {
    const agent = await openAgent(io, paths);
    const { server, broker } = agent.config;
    const holder = liveHolder(join(paths.locksDir, '.agent-run.lock'));
    const { error, events } = await askBroker(agent);
    const value: AgentStatus = {
      server,
      pid: holder?.pid ?? null,
      since: holder?.since ?? null,
      broker: broker?.url ?? null,
      error,
      events,
      orders: newestOrders(agent),
    };
    return { value };
  },
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

function newestOrders({ paths }: Agent): OrderRow[] {
  return allEntries(paths)
    .map(({ order: { id, verb, app, issued }, entry }) => ({
      order: id,
      verb,
      app,
      by: entry.order.by,
      issued,
      status: (entry.result && resultOf(entry.result.body)?.status) ?? null,
    }))
    .sort((a, b) => (a.issued < b.issued ? 1 : -1))
    .slice(0, SHOWN);
}

async function askBroker(agent: Agent): Promise<Pick<AgentStatus, 'error' | 'events'>> {
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
