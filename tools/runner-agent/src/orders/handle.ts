/** An order from its arrival to its sealed result. */
import { Failure } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { type Order, orderOf, type SealedOrder } from '@runner/fleet/order/order';
import type { OrderResult } from '@runner/fleet/order/result';
import { digestOf, type Sealed } from '@runner/fleet/order/seal';
import type { Agent } from './agent.ts';
import { carryOut, deployIdOf, type OrderWork, withoutWork } from './carry-out.ts';
import { allEntries, conclude, findEntry, writeEntry } from './ledger.ts';
import {
  appRefusal,
  commitRefusal,
  type OrderRefusal,
  signerRefusal,
  timeRefusal,
} from './refusal.ts';

/**
 * Carries an order out unless there is a reason to refuse it, and returns the signed result. `signer`: its signer's
 * check, if it has just been made.
 */
export async function handle(
  agent: Agent,
  sealed: SealedOrder,
  waiting: readonly Order[] = [],
  signer?: Promise<OrderRefusal | undefined>,
): Promise<Sealed> {
  const order = orderOf(sealed.body) as Order;
  let plan: string | undefined;
  const answer = ({ status, code, message }: OrderRefusal) => {
    const result = resultOfWork(agent, sealed, order, withoutWork(status, code, message));
    return agent.seal('result', JSON.stringify({ ...result, n: null, prev: null }));
  };
  try {
    const untrusted = await (signer ?? signerRefusal(agent, sealed, order));
    if (untrusted) {
      const what = `refused ${order.id}, ${order.verb} ${order.app}`;
      agent.io.stderr.write(
        `${harmlessLine(`${what}: ${untrusted.message}`)} (${untrusted.code})\n`,
      );
      return answer(untrusted);
    }
    const entry = findEntry(agent.paths, order.id);
    if (entry && entry.order.body !== sealed.body) {
      const message = `another order has the id ${order.id}`;
      return answer({ status: 'refused', code: 'order_invalid', message });
    }
    if (entry?.result) return entry.result;
    // Started by an agent that was killed: finish it and record the outcome.
    const refusal = entry
      ? undefined
      : (timeRefusal(agent, order, waiting) ?? (await appRefusal(agent, order, sealed.by)));
    if (refusal && 'status' in refusal) {
      const result = answer(refusal);
      // Recorded, so that a redelivered order gets the same answer; except an order dated in the future,
      // which would supersede others.
      if (refusal.status !== 'clock_skew')
        writeEntry(agent.paths, order.id, { order: sealed, result });
      return result;
    }
    if (!entry) writeEntry(agent.paths, order.id, { order: sealed, result: null });
    plan = refusal?.plan;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return answer({ status: 'failed', code: error.code, message: error.message });
  }
  return finish(agent, sealed, order, plan);
}

async function finish(
  agent: Agent,
  sealed: SealedOrder,
  order: Order,
  plan?: string,
): Promise<Sealed> {
  const work = await carryOut(agent, sealed, order, plan);
  // `runner apply` was faster: what that has deployed counts.
  const found = work.code === 'plan_ended' ? await commitRefusal(agent, order) : undefined;
  const result = found ? withoutWork(found.status, found.code, found.message) : work;
  return conclude(agent, sealed, resultOfWork(agent, sealed, order, result));
}

/** Finishes the orders that a killed agent had started; `done` gets each result. */
export async function finishStarted(
  agent: Agent,
  done: (result: Sealed) => Promise<void>,
): Promise<void> {
  const unfinished = allEntries(agent.paths).filter(({ entry }) => entry.result === null);
  for (const { order, entry } of unfinished) await done(await finish(agent, entry.order, order));
}

function resultOfWork(
  { io, config }: Agent,
  { body }: SealedOrder,
  order: Order,
  work: OrderWork,
): Omit<OrderResult, 'n' | 'prev'> {
  const { id, verb, app } = order;
  const deploy_id =
    work.deploy_id ?? (work.duration_ms > 0 ? deployIdOf(order, config.server) : null);
  const at = io.now().toISOString();
  return { order: id, digest: digestOf(body), verb, app, ...work, deploy_id, at };
}
