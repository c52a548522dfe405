/** Receives orders from the broker: drains the mailbox, then carries out one order at a time per app. */
import { setTimeout as pause } from 'node:timers/promises';
import { Failure, systemFailure } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import type { Broker } from '@runner/fleet/broker/nats';
import { subjects } from '@runner/fleet/broker/subjects';
import {
  classOf,
  type Order,
  orderOf,
  type SealedOrder,
  sealedOf,
} from '@runner/fleet/order/order';
import { resultOf } from '@runner/fleet/order/result';
import type { Sealed } from '@runner/fleet/order/seal';
import type { Agent } from '../orders/agent.ts';
import { finishStarted, handle } from '../orders/handle.ts';
import { type OrderRefusal, signerRefusal, timeRefusal } from '../orders/refusal.ts';
import type { Junk } from './junk.ts';

/** How long to let waiting orders arrive before the first is carried out, in ms. */
const DRAIN = 100;
/** Between two reports to the broker that an order is in progress, in ms. */
const WORKING = 5_000;
/** Between two attempts. */
const RETRY = 2_000;

interface Arrived {
  readonly sealed: SealedOrder;
  readonly order: Order;
  /** Whether it was taken out of its lane; it stays known until it has its result. */
  begun: boolean;
  /** The check of its signer, made on arrival. */
  readonly signer: Promise<OrderRefusal | undefined>;
  working(): void;
  ack(): void;
}

/** Carries out orders until the connection ends. `done` is called after each. */
export async function serveOrders(
  agent: Agent,
  broker: Broker,
  junk: Junk,
  done: () => void,
): Promise<void> {
  const waiting: Arrived[] = [];
  const busy = new Set<string>();
  const publish = async (result: Sealed) => {
    await storeResult(agent, broker, result);
    done();
  };
  const carry = async (next: Arrived, stepping: Agent, ...more: [Order[], Arrived['signer']?]) => {
    await publish(await retried(agent, () => handle(stepping, next.sealed, ...more)));
    next.ack();
    waiting.splice(waiting.indexOf(next), 1);
  };
  const work = async (lane: string) => {
    busy.add(lane);
    await pause(DRAIN);
    for (let isFirst = true; ; isFirst = false) {
      const next = waiting.find(({ order, begun }) => !begun && laneOf(order) === lane);
      if (!next) break;
      next.begun = true;
      const others: Order[] = [];
      for (const each of waiting)
        if (each !== next && (await supersedes(agent, each))) others.push(each.order);
      // Check the signer again after a wait: the list of signers may have changed.
      const signer = isFirst ? next.signer : undefined;
      // A newer order ends the watch, as a command there does: it must not wait for it, which may take a day.
      await new Promise<void>((resolve) => {
        const step: Agent['step'] = (order, name) => {
          agent.step?.(order, name);
          if (name === 'watch') resolve();
        };
        void carry(next, { ...agent, step }, others, signer).then(resolve);
      });
    }
    busy.delete(lane);
  };
  const timer = setInterval(() => {
    for (const each of waiting) each.working();
  }, WORKING);
  void retried(agent, () => finishStarted(agent, publish));
  try {
    for await (const message of await broker.orders(agent.config.server)) {
      const sealed = sealedOf(message.string());
      const order = sealed && orderOf(sealed.body);
      if (!order) {
        // Without a reason, which a broker before 2.10 does not know: it would deliver the message again.
        message.term();
        junk.add();
      } else {
        const delivered = { working: () => message.working(), ack: () => message.ack() };
        const text = JSON.stringify(sealed);
        const same = waiting.find((each) => each.begun && JSON.stringify(each.sealed) === text);
        // Delivered again, such as after an outage: a watch is not followed twice.
        if (same) {
          Object.assign(same, delivered);
          continue;
        }
        const signer = signerRefusal(agent, sealed, order);
        signer.catch(() => {});
        waiting.push({ sealed, order, signer, begun: false, ...delivered });
        const lane = laneOf(order);
        if (!busy.has(lane)) void work(lane);
      }
    }
  } finally {
    clearInterval(timer);
  }
}

/** Orders of one lane run one after another; a hold does not wait for a running deploy. */
const laneOf = ({ app, verb }: Order) => `${app} ${classOf(verb)}`;

/** Whether a waiting order supersedes older ones: only if it would be carried out itself. */
async function supersedes(agent: Agent, { signer, order }: Arrived): Promise<boolean> {
  const isTrusted = await signer.then((refusal) => refusal === undefined).catch(() => false);
  return isTrusted && !timeRefusal(agent, order, []);
}

async function storeResult(agent: Agent, broker: Broker, result: Sealed): Promise<void> {
  const order = resultOf(result.body)?.order ?? '';
  const subject = subjects.result(agent.config.server, order);
  await retried(agent, () => broker.store(subject, JSON.stringify(result)));
}

/** Retries on failure: a full disk or an unreachable broker must not end the agent. */
async function retried<T>({ io }: Agent, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const failure = systemFailure(error, 'carry out the order');
      if (!(failure instanceof Failure)) throw error;
      io.stderr.write(`${harmlessLine(failure.message)} (${failure.code}); trying again\n`);
      await pause(RETRY);
    }
  }
}
