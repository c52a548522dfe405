/** Delivers a signed order to its servers and waits for their results. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from '@runner/common/cli/command';
import { Failure } from '@runner/common/foundation/failure';
import { jsonObject } from '@runner/common/text/json';
import type { Broker } from '@runner/fleet/broker/nats';
import { subjects } from '@runner/fleet/broker/subjects';
import type { FleetServer } from '@runner/fleet/files/operator';
import { type Order, orderOf, type SealedOrder } from '@runner/fleet/order/order';
import { digestOf, isSealedBy, sealedTextOf } from '@runner/fleet/order/seal';
import { noAnswer, type ServerLine, verified } from './line.ts';

/** Between two reads of stored results, in ms: a notification can be lost while the broker restarts. */
const LOOK = 3_000;

/** A signed order, its content and its servers. */
export interface Delivery {
  readonly sealed: SealedOrder;
  readonly order: Order;
  readonly servers: readonly FleetServer[];
}

/** A server's result for exactly this order; undefined if the broker has none yet. */
export async function storedResult(
  broker: Broker,
  { sealed, order }: Delivery,
  server: FleetServer,
): Promise<ServerLine | undefined> {
  const subject = subjects.result(server.server, order.id);
  const digest = digestOf(sealed.body);
  for await (const { text } of broker.all('RESULTS', subject)) {
    const line = verified(sealedTextOf(text), [server]);
    if (line?.digest === digest) return line;
  }
  return undefined;
}

/** How often an order is stored while the broker does not answer, and the pause between, in ms. */
const TRIES = 10;
const RETRY = 1_000;

/** Puts the order into the mailboxes, also through a restart of the broker: stored twice, it is carried out once. */
export async function post(broker: Broker, { sealed, servers }: Delivery): Promise<void> {
  const text = JSON.stringify(sealed);
  const store = async (subject: string, left: number): Promise<void> => {
    try {
      await broker.store(subject, text);
    } catch (error) {
      const isPassing = error instanceof Failure && error.code === 'broker_unreachable';
      if (!isPassing || left === 0) throw error;
      await pause(RETRY);
      await store(subject, left - 1);
    }
  };
  await Promise.all(servers.map(({ server }) => store(subjects.order(server), TRIES)));
}

/** `wait` in ms; `stepped` is called for each step of a server. */
interface Waiting {
  readonly wait: number;
  readonly signal: AbortSignal;
  readonly stepped?: (server: string, step: string) => void;
}

/** Posts the order and waits up to `wait` ms; `answered` gets each result as it arrives, then the missing ones. */
export async function deliver(
  { io }: Pick<Context, 'io'>,
  broker: Broker,
  delivery: Delivery,
  { wait, signal, stepped }: Waiting,
  answered: (line: ServerLine) => Promise<void>,
): Promise<void> {
  await post(broker, delivery);
  const open = new Map(delivery.servers.map((server) => [server.server, server]));
  const digest = digestOf(delivery.sealed.body);
  const arrived: ServerLine[] = [];
  let wake = () => {};
  const stopped = () => wake();
  signal.addEventListener('abort', stopped);
  const stop = broker.subscribe(subjects.result('*', delivery.order.id), (text) => {
    const line = verified(sealedTextOf(text), [...open.values()]);
    if (line?.digest === digest) arrived.push(line);
    wake();
  });
  const stopSteps = broker.subscribe(subjects.step('*', delivery.order.id), (text) => {
    const sealed = sealedTextOf(text);
    const key = sealed && open.get(sealed.server)?.key;
    if (!key || !isSealedBy('step', sealed, key)) return;
    const { order, step } = jsonObject(sealed.body) ?? {};
    if (order === delivery.order.id) stepped?.(sealed.server, String(step));
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
        for (const line of await Promise.all(asked)) await take(line);
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
  for (const server of open.values()) await answered(noAnswer(server));
}

/** `sealed` must have been checked before. */
export function deliveryOf(sealed: SealedOrder, servers: readonly FleetServer[]): Delivery {
  const order = orderOf(sealed.body) as Order;
  return { sealed, order, servers: servers.filter(({ server }) => order.servers.includes(server)) };
}
