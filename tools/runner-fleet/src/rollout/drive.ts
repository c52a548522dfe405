/** Runs a rollout batch by batch until it is done or too many servers have failed. */
import type { Context } from '@runner/common/cli/command';
import { EXIT, signalStatus } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import type { Broker } from '@runner/fleet/broker/nats';
import type { FleetServer } from '@runner/fleet/files/operator';
import { isHold, type SealedOrder } from '@runner/fleet/order/order';
import { NOT_JUDGED } from '@runner/fleet/order/result';
import { deliver, deliveryOf, post } from './delivery.ts';
import { isFinished, isGood, noAnswer, type ServerLine, statusOf } from './line.ts';
import { AppClaim, keep } from './record.ts';
import type { Rollout } from './rollout.ts';

/** A checked and signed rollout. */
export interface RolloutPlan {
  /** The first line, printed once the app is claimed. */
  readonly heading: object;
  readonly sealed: SealedOrder;
  readonly batches: readonly (readonly FleetServer[])[];
  /** Servers that did not answer; the order waits in their mailboxes. */
  readonly absent: readonly FleetServer[];
  readonly maxFailures: number;
  /** How long to wait for the results of a batch, in ms. */
  readonly wait: number;
}

/** The canary first, then `maxParallel` servers at a time. */
export function batchesOf(
  servers: readonly FleetServer[],
  canary: number,
  maxParallel: number,
): FleetServer[][] {
  const batches = canary > 0 && servers.length > canary ? [servers.slice(0, canary)] : [];
  const rest = servers.slice(batches.length > 0 ? canary : 0);
  for (let from = 0; from < rest.length; from += maxParallel)
    batches.push(rest.slice(from, from + maxParallel));
  return batches;
}

/** Claims the app and sends the batches. Returns the exit status. */
export async function drive(
  context: Pick<Context, 'io' | 'paths' | 'print'>,
  broker: Broker,
  plan: RolloutPlan,
): Promise<number> {
  const { io, paths, print } = context;
  const { order, servers } = deliveryOf(plan.sealed, [...plan.batches.flat(), ...plan.absent]);
  const rollout: Rollout = {
    rollout: order.id,
    app: order.app,
    by: plan.sealed.by,
    order: plan.sealed,
    batches: [...plan.batches, plan.absent]
      .filter((batch) => batch.length > 0)
      .map((batch) => batch.map(({ server }) => server)),
    max_failures: plan.maxFailures,
    state: 'running',
    began: io.now().toISOString(),
    ordered: [],
  };
  const claim = isHold(order.verb)
    ? undefined
    : await AppClaim.take(broker, paths.root, io.now(), rollout);
  const interrupted = new AbortController();
  let by: NodeJS.Signals | undefined;
  const remove = io.onSignal((signal) => {
    by = signal;
    interrupted.abort();
  });
  const lines: ServerLine[] = [];
  try {
    await print(plan.heading);
    await sendBatches(context, broker, plan, { claim, lines, signal: interrupted.signal });
  } finally {
    remove();
    const end = summaryOf(rollout.rollout, servers.length, lines, { by, claim });
    if (claim) await claim.end(end.result);
    else keep(paths.root, { ...rollout, state: end.result, ordered: rollout.batches.flat() });
    await print(end);
  }
  if (by) return signalStatus(by);
  return claim?.lost ? EXIT.failed : statusOf(lines);
}

interface RolloutProgress {
  readonly claim: AppClaim | undefined;
  readonly lines: ServerLine[];
  readonly signal: AbortSignal;
}

async function sendBatches(
  context: Pick<Context, 'io' | 'print'>,
  broker: Broker,
  plan: RolloutPlan,
  { claim, lines, signal }: RolloutProgress,
): Promise<void> {
  const answered = async (line: ServerLine) => {
    lines.push(line);
    await context.print(line);
  };
  const { stderr } = context.io;
  const stepped = (server: string, step: string) => {
    if (stderr.isTTY) stderr.write(`${server.padEnd(12)}  ${harmlessLine(step)} …\n`);
  };
  for (const batch of plan.batches) {
    if (signal.aborted || (await isLost(claim, batch))) return;
    const waiting = { wait: plan.wait, signal, answered, stepped };
    await deliver(context, broker, deliveryOf(plan.sealed, batch), waiting);
    if (lines.filter((line) => !isGood(line)).length > plan.maxFailures) return;
  }
  if (plan.absent.length === 0 || signal.aborted || (await isLost(claim, plan.absent))) return;
  await post(broker, deliveryOf(plan.sealed, plan.absent), signal, answered);
  for (const server of plan.absent) await answered(noAnswer(server));
}

async function isLost(claim: AppClaim | undefined, next: readonly FleetServer[]): Promise<boolean> {
  return claim !== undefined && !(await claim.allows(next.map(({ server }) => server)));
}

/** The last line of a rollout. */
export type RolloutSummary = ReturnType<typeof summaryOf>;

function summaryOf(
  rollout: string,
  servers: number,
  lines: readonly ServerLine[],
  { by, claim }: { by: string | undefined; claim: AppClaim | undefined },
) {
  const done = lines.filter(isGood).length;
  const no_answer = lines.filter(({ status }) => status === 'no_answer').length;
  /** Of those that are done: the watch of the release was not judged. */
  const not_judged = lines.filter((line) => isGood(line) && line.code === NOT_JUDGED).length;
  const failed = lines.length - done - no_answer;
  const not_ordered = servers - lines.length;
  const ended: Rollout['state'] =
    failed > 0 || not_ordered > 0 ? 'stopped' : no_answer > 0 ? 'incomplete' : 'done';
  const result: Rollout['state'] = by ? 'interrupted' : claim?.lost ? 'cancelled' : ended;
  // A hold is not claimed: a later rollout of the app may be newer. A lost claim belongs to someone else.
  const isOpen = not_ordered > 0 || !lines.every(isFinished);
  /** Whether `resume` would order anything. */
  const resumable = isOpen && claim !== undefined && !claim.lost;
  return { rollout, result, done, failed, not_ordered, no_answer, not_judged, resumable };
}
