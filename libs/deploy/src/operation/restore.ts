/** One instance becomes again what the state says: it runs, is stopped, or was never there. */

import type { Deployed } from '@runner/common/apps/deployed';
import { isStopped } from '@runner/common/apps/operator';
import { liveSlot, otherSlot } from '@runner/common/apps/slots';
import { isThere } from '@runner/common/files/read';
import { leadTo, switchOff, switchTo } from '../instances/current-link.ts';
import { driverFor } from '../instances/drivers/choose.ts';
import type { Target } from '../instances/drivers/driver.ts';
import { endInstance } from '../instances/drivers/process.ts';
import { instancePaths, instanceState, serve } from '../instances/slots.ts';
import { activationOf, isRunning, stopUnlessBeside } from '../instances/steps.ts';
import { stopAllOf } from '../instances/stop.ts';
import { keptTarget } from '../instances/target.ts';
import type { Journal, Move, Operation } from '../journal/operation.ts';
import { runOrThrow } from '../journal/step.ts';
import { reported } from '../report/reporter.ts';
import { failureOf, StepFailure } from '../run/step.ts';

/** An instance that became again what it was, or could not. */
export interface Undone extends Move {
  /** false: it had only been stopped, which is no rollback. */
  readonly wasSwitched: boolean;
}

/** An instance that was changed, and what it is to be again. */
export interface Touched extends Pick<Undone, 'wasSwitched'> {
  readonly name: string;
  /** null: nothing; its first deploy failed. */
  readonly to: Deployed | null;
  /** What may run instead; undefined if that is what it was. */
  readonly running: Target | undefined;
}

/** Makes one instance again what it was. Returns why that failed. */
export async function restored(
  op: Operation,
  journal: Journal,
  touched: Touched,
): Promise<string | undefined> {
  const step = wordsOf(journal, touched);
  const failure = await failureOf('start', () =>
    reported(op.reporter, step, () => restore(op, touched)),
  );
  return failure && op.redact(failure.message);
}

function wordsOf({ verb, rollback }: Journal, { name, to }: Touched): string {
  if (!to) return `stop ${name}: no earlier version`;
  if (verb) return `stop ${name} again`;
  return `${rollback ? 'return' : 'roll back'} ${name} to ${to.version}`;
}

async function restore(op: Operation, { name, to, running }: Touched): Promise<void> {
  const { app } = op.app;
  const own = instancePaths(op, name);
  const isGone = to !== null && !isThere(op.paths.app(app).release(to.release));
  const target = to && !isGone ? keptTarget(op, name, to) : undefined;
  if (target && isStopped(op.app, name)) return stopAgain(op, target, running);
  if (running) await stopUnlessBeside(op, running, target);
  else if (!to) await endInstance({ app, instance: { name }, slot: undefined, paths: own });
  if (!to) return switchOff(own);
  if (!target) {
    if (running) switchOff(own);
    const why = isGone ? 'its release is gone' : 'its .deploy.yml cannot be read';
    throw new StepFailure('rollback', `${to.version} cannot be restored: ${why}`, {
      blame: 'server',
    });
  }
  const isInSlot = target.slot !== undefined && target.slot === liveSlot(own);
  // It never stopped; a command may have sent some of its requests elsewhere.
  if (isInSlot && isRunning(op, target)) await serve(op, target);
  else await runOrThrow(op, activationOf(op, target));
  await endStray(op, target, running);
}

/** Its links lead again to what it was, even if what runs cannot be stopped, and nothing is started. */
async function stopAgain(
  op: Operation,
  target: Target,
  running: Target | undefined,
): Promise<void> {
  const { name } = target.instance;
  const own = instancePaths(op, name);
  if (target.slot === undefined) switchTo(own, target.release);
  else if (running?.slot) leadTo(own, otherSlot(running.slot));
  if (running) await stopUnlessBeside(op, running, undefined);
  await stopAllOf(op, name, target);
}

/** What runs without slots has no place beside an instance with slots, but from before it had any. */
async function endStray(op: Operation, target: Target, running: Target | undefined): Promise<void> {
  if (!running || running.slot !== undefined || target.slot === undefined) return;
  const { name } = target.instance;
  const { before_traffic: before } = instanceState(op, name);
  const known = before && keptTarget(op, name, before);
  await driverFor(running.start).stop(running);
  // The failed version had taken its place.
  if (known) await driverFor(known.start).start(known);
}
