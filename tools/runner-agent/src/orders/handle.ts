/** An order from its arrival to its sealed result. */
import { Failure } from '@runner/common/foundation/failure';
import { type Order, orderOf, type SealedOrder } from '@runner/fleet/order/order';
import type { Result } from '@runner/fleet/order/result';
import { digestOf, type Sealed, seal } from '@runner/fleet/order/seal';
import type { Agent } from './agent.ts';
import { carryOut, deployIdOf, type Work } from './carry-out.ts';
import { judgeApp, judgeSigner, judgeTime, type Refusal } from './judge.ts';
import { allBegun, conclude, findBegun, writeBegun } from './ledger.ts';

/**
 * Judges an order, carries it out if nothing speaks against it, and returns the signed answer. `signer`: what was
 * judged of its signer just now.
 */
export async function handle(
  agent: Agent,
  sealed: SealedOrder,
  waiting: readonly Order[] = [],
  signer?: Promise<Refusal | undefined>,
): Promise<Sealed> {
  const order = orderOf(sealed.body) as Order;
  const answer = (refusal: Refusal) =>
    sealResult(agent, {
      ...resultOfWork(agent, sealed, order, refused(refusal)),
      n: null,
      prev: null,
    });
  try {
    const untrusted = await (signer ?? judgeSigner(agent, sealed, order));
    if (untrusted) return answer(untrusted);
    const begun = findBegun(agent.paths, order.id);
    if (begun && begun.order.body !== sealed.body) {
      const message = `another order has the id ${order.id}`;
      return answer({ status: 'refused', code: 'order_invalid', message });
    }
    if (begun?.result) return begun.result;
    // Started before, and the agent was killed: carry on and record the outcome.
    const refusal = begun
      ? undefined
      : (judgeTime(agent, order, waiting) ?? (await judgeApp(agent, order)));
    if (refusal) {
      const result = answer(refusal);
      // Recorded, so that a redelivered order gets the same answer; except an order dated in the future,
      // which would supersede others.
      if (refusal.status !== 'clock_skew')
        writeBegun(agent.paths, order.id, { order: sealed, result });
      return result;
    }
    if (!begun) writeBegun(agent.paths, order.id, { order: sealed, result: null });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return answer({ status: 'failed', code: error.code, message: error.message });
  }
  return finish(agent, sealed, order);
}

async function finish(agent: Agent, sealed: SealedOrder, order: Order): Promise<Sealed> {
  const work = await carryOut(agent, sealed, order);
  const { paths, io, config, signKey } = agent;
  const result = resultOfWork(agent, sealed, order, work);
  return conclude(paths, io.now(), sealed, result, (body) =>
    seal('result', config.server, body, signKey),
  );
}

/** Finishes the orders that a killed agent had started; `done` gets each result. */
export async function finishBegun(
  agent: Agent,
  done: (result: Sealed) => Promise<void>,
): Promise<void> {
  const unfinished = allBegun(agent.paths).filter(({ begun }) => begun.result === null);
  for (const { order, begun } of unfinished) await done(await finish(agent, begun.order, order));
}

const refused = (refusal: Refusal): Work => ({
  ...refusal,
  ...{ deploy_id: null, version: null, previous_version: null, commit: null },
  ...{ duration_ms: 0, rollback_failed: false },
});

function resultOfWork(
  { io, config }: Agent,
  { body }: SealedOrder,
  order: Order,
  work: Work,
): Omit<Result, 'n' | 'prev'> {
  const { id, verb, app } = order;
  const deploy_id =
    work.deploy_id ?? (work.duration_ms > 0 ? deployIdOf(order, config.server) : null);
  const at = io.now().toISOString();
  return { order: id, digest: digestOf(body), verb, app, ...work, deploy_id, at };
}

function sealResult({ config, signKey }: Agent, result: Result): Sealed {
  return seal('result', config.server, JSON.stringify(result), signKey);
}
