/** Delivers a signed order to its servers and waits for their results. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from '@runner/common/cli/command';
import { Failure } from '@runner/common/foundation/failure';
import type { Broker } from '@runner/fleet/broker/nats';
import { subjects } from '@runner/fleet/broker/subjects';
import type { FleetServer } from '@runner/fleet/files/operator';
import { type Order, orderOf, type SealedOrder } from '@runner/fleet/order/order';
import { receive } from '@runner/fleet/order/received';
import { digestOf, sealedTextOf } from '@runner/fleet/order/seal';
import { stepField } from '@runner/fleet/order/state';
import { noAnswer, receivedLine, type ServerLine, unreadable } from './line.ts';

/** Between two reads of stored results, in ms: a notification can be lost while the broker restarts. */
const LOOK = 3_000;

/** A signed order, its content and its servers. */
export type OrderDelivery = ReturnType<typeof deliveryOf>;

/**
 * What a message says about this order: a result, or that the server sent one that cannot be read. Undefined if it is
 * not signed by one of these servers, or about an older order with the same id.
 */
function resultFor(
  message: string,
  { sealed, order }: OrderDelivery,
  servers: readonly FleetServer[],
): ServerLine | undefined {
  const line = receivedLine(message, servers);
  if (!line || line.status === 'unreadable') return line;
  if (line.digest !== digestOf(sealed.body)) return undefined;
  const isFor = line.order === order.id && line.verb === order.verb && line.app === order.app;
  return isFor ? line : unreadable(line.server, `${line.server} sent a result of another order`);
}

/** A server's result for exactly this order; undefined if the broker has none yet. */
export async function storedResult(
  broker: Broker,
  delivery: OrderDelivery,
  server: FleetServer,
): Promise<ServerLine | undefined> {
  const subject = subjects.result(server.server, delivery.order.id);
  let bad: ServerLine | undefined;
  for await (const { text } of broker.all('RESULTS', subject)) {
    const line = resultFor(text, delivery, [server]);
    if (line && line.status !== 'unreadable') return line;
    bad ??= line;
  }
  return bad;
}

/** The results of an order, by the servers of `delivery`. */
export const storedResults = (
  broker: Broker,
  delivery: OrderDelivery,
): Promise<(ServerLine | undefined)[]> =>
  Promise.all(delivery.servers.map((server) => storedResult(broker, delivery, server)));

/** How often an order is stored while the broker does not answer, and the pause between, in ms. */
const TRIES = 10;
const RETRY = 1_000;

type Answered = (line: ServerLine) => Promise<void>;

/**
 * Puts the order into the mailboxes, also through a restart of the broker: stored twice, it is carried out once. Stops
 * at the signal. If it fails, the servers may have the order, so that they get a line too.
 */
export async function post(
  broker: Broker,
  delivery: OrderDelivery,
  signal: AbortSignal,
  answered: Answered,
): Promise<void> {
  try {
    await unlessAborted(storeOrder(broker, delivery, signal), signal);
  } catch (error) {
    for (const server of delivery.servers)
      await answered(noAnswer(server, 'the broker did not confirm the order'));
    throw error;
  }
}

/** What `work` resolves to; undefined once the signal comes, however long `work` takes. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  let stop = () => {};
  const aborted = new Promise<undefined>((resolve) => {
    stop = () => resolve(undefined);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

async function storeOrder(
  broker: Broker,
  { sealed, servers }: OrderDelivery,
  signal: AbortSignal,
): Promise<void> {
  const text = JSON.stringify(sealed);
  const store = async (subject: string, left: number): Promise<void> => {
    try {
      await broker.store(subject, text);
    } catch (error) {
      const isPassing =
        error instanceof Failure && /^broker_(?:unreachable|failed)$/.test(error.code);
      if (signal.aborted) return;
      if (!isPassing || left === 0) throw error;
      await pause(RETRY);
      await store(subject, left - 1);
    }
  };
  await Promise.all(servers.map(({ server }) => store(subjects.order(server), TRIES)));
}

/** How long to wait, and what is reported meanwhile. */
interface WaitOptions {
  /** In ms. */
  readonly wait: number;
  readonly signal: AbortSignal;
  /** Gets each result as it arrives, then the missing ones. */
  readonly answered: Answered;
  /** Gets each step of a server. */
  readonly stepped?: (server: string, step: string) => void;
}

/** Posts the order and waits for the results. */
export async function deliver(
  { io }: Pick<Context, 'io'>,
  broker: Broker,
  delivery: OrderDelivery,
  { wait, signal, answered, stepped }: WaitOptions,
): Promise<void> {
  await post(broker, delivery, signal, answered);
  const open = new Map(delivery.servers.map((server) => [server.server, server]));
  const arrived: ServerLine[] = [];
  const begun = new Set<string>();
  let wake = () => {};
  const stopped = () => wake();
  signal.addEventListener('abort', stopped);
  const stop = broker.subscribe(subjects.result('*', delivery.order.id), (text) => {
    const line = resultFor(text, delivery, [...open.values()]);
    if (line) arrived.push(line);
    wake();
  });
  const stopSteps = broker.subscribe(subjects.step('*', delivery.order.id), (text) => {
    const server = open.get(sealedTextOf(text)?.server ?? '');
    const received = server && receive('step', text, server, stepField);
    if (!received || 'problem' in received) return;
    const { order, step } = received.value;
    if (order !== delivery.order.id) return;
    begun.add(server.server);
    stepped?.(server.server, step);
  });
  const take = async (line: ServerLine | undefined) => {
    if (line && open.delete(line.server)) await answered(line);
  };
  const until = io.elapsed() + wait;
  let look = 0;
  try {
    while (open.size > 0 && !signal.aborted) {
      for (const line of arrived.splice(0)) await take(line);
      if (open.size > 0 && io.elapsed() >= Math.min(look, until)) {
        look = io.elapsed() + LOOK;
        const asked = [...open.values()].map((server) =>
          storedResult(broker, delivery, server).catch(() => undefined),
        );
        const found = await unlessAborted(Promise.all(asked), signal);
        for (const line of found ?? []) await take(line);
      }
      if (open.size === 0 || io.elapsed() >= until) break;
      if (arrived.length > 0) continue;
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      await Promise.race([woken, pause(Math.min(look, until) - io.elapsed())]);
    }
  } finally {
    signal.removeEventListener('abort', stopped);
    stop();
    stopSteps();
  }
  for (const server of open.values()) {
    const runs = begun.has(server.server) ? 'no answer yet: it has begun, and goes on' : undefined;
    await answered(noAnswer(server, runs));
  }
}

/** `sealed` must have been checked before. */
export function deliveryOf(sealed: SealedOrder, servers: readonly FleetServer[]) {
  const order = orderOf(sealed.body) as Order;
  return { sealed, order, servers: servers.filter(({ server }) => order.servers.includes(server)) };
}
