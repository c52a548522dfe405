/** Rolling back what a failed deploy switched or started. */
import type { DeployFile } from '@runner/common/deploy-file/read';
import type { Job, Move } from '../record/operation.ts';
import { reported } from '../report/reporter.ts';
import { asStepFailure } from '../run/step.ts';
import type { Activation } from './activate.ts';
import { driverFor } from './drivers/choose.ts';
import { stopSlot } from './slots.ts';
import { switchBack } from './switch-back.ts';
import { jobTarget, previousOf, type ReleaseTarget, uninterrupted } from './target.ts';

/**
 * Rolls the switched instances back, last first, and starts those again that were stopped for them.
 * It is never interrupted: Ctrl-C may have been what started it.
 */
export async function rollBackSwitched(
  job: Job,
  file: DeployFile,
  release: string,
  { switched, waiting, stopped }: Activation,
): Promise<Move[]> {
  for (const target of waiting) await stopWaiting(job, target);
  const targets = switched.map((instance) => jobTarget(job, file, instance, release)).reverse();
  const others = stopped.filter((name) => !switched.some((instance) => instance.name === name));
  const stops = stopped.length > 0 ? await stopAll(job, targets) : [];
  const moves: Move[] = [];
  for (const [name, target] of [
    ...targets.map((each) => [each.instance.name, each] as const),
    ...others.map((each) => [each, undefined] as const),
  ]) {
    const to = previousOf(job, name);
    const move = { instance: name, from: job, to };
    const step = to ? `roll back ${name} to ${to.version}` : `stop ${name}: no earlier version`;
    const running = stops.includes(name) ? undefined : target;
    try {
      await reported(job.reporter, step, () => switchBack(uninterrupted(job), name, running, to));
      moves.push(move);
    } catch (error) {
      moves.push({ ...move, problem: job.redact(asStepFailure(error, 'start').message) });
    }
  }
  return moves;
}

/** Stops a release that got no request. */
async function stopWaiting(job: Job, { instance: { name }, slot }: ReleaseTarget): Promise<void> {
  if (slot === undefined) return;
  try {
    await reported(job.reporter, `stop ${name} in slot ${slot}`, () =>
      stopSlot(uninterrupted(job), name, slot),
    );
  } catch (error) {
    job.reporter.note(asStepFailure(error, 'start').message);
  }
}

/** Stops instances before any of them is rolled back: they swapped ports. Returns those that are. */
async function stopAll(job: Job, targets: readonly ReleaseTarget[]): Promise<string[]> {
  const stopped: string[] = [];
  const { signal } = uninterrupted(job);
  for (const target of targets) {
    try {
      await driverFor(target.start).stop({ ...target, signal });
      stopped.push(target.instance.name);
    } catch {
      // Its rollback tries again, and reports why it fails.
    }
  }
  return stopped;
}
