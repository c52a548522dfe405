/** Rolling back what a failed deploy switched or started. */
import type { DeployFile } from '@runner/common/deploy-file/read';
import type { Job, Move } from '../journal/operation.ts';
import { reported } from '../report/reporter.ts';
import { failureOf } from '../run/step.ts';
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
    const goBack = () => switchBack(uninterrupted(job), name, running, to);
    const failure = await failureOf('start', () => reported(job.reporter, step, goBack));
    moves.push({ ...move, problem: failure && job.redact(failure.message) });
  }
  return moves;
}

/** Stops a release that got no request. */
async function stopWaiting(job: Job, { instance: { name }, slot }: ReleaseTarget): Promise<void> {
  if (slot === undefined) return;
  const stop = () => stopSlot(uninterrupted(job), name, slot);
  const step = `stop ${name} in slot ${slot}`;
  const failure = await failureOf('start', () => reported(job.reporter, step, stop));
  if (failure) job.reporter.note(failure.message);
}

/** Stops instances before any of them is rolled back: they swapped ports. Returns those that are. */
async function stopAll(job: Job, targets: readonly ReleaseTarget[]): Promise<string[]> {
  const stopped: string[] = [];
  const { signal } = uninterrupted(job);
  for (const target of targets) {
    const stop = () => driverFor(target.start).stop({ ...target, signal });
    // If it fails, its rollback tries again, and reports why.
    if (!(await failureOf('start', stop))) stopped.push(target.instance.name);
  }
  return stopped;
}
