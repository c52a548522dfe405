/** Bringing a release to its instances: switch, start, health; and rolling them back on failure. */
import { noteStarting } from '@runner/common/app-secrets/change';
import type { DeployFile, Instance } from '@runner/common/deploy-file/read';
import { markStage } from '../record/in-progress.ts';
import type { Job, Move } from '../record/operation.ts';
import { reported } from '../report/reporter.ts';
import { asStepFailure, StepFailure } from '../run/step.ts';
import { switchTo } from './current-link.ts';
import { driverFor } from './drivers/choose.ts';
import type { Started } from './drivers/driver.ts';
import { waitHealthy } from './health.ts';
import { runHook } from './hooks.ts';
import { inTheWay } from './ports.ts';
import { checkReady } from './ready.ts';
import { stopUnlessReplaced, switchBack } from './switch-back.ts';
import {
  interruptible,
  jobTarget,
  keptTarget,
  previousOf,
  type ReleaseTarget,
  releaseOf,
  uninterrupted,
} from './target.ts';

/** How far a release was brought to its instances. */
export interface Activation {
  /** Instances that were switched, in order. */
  readonly switched: readonly Instance[];
  /** Instances that were stopped first because another one needs their port. */
  readonly stopped: readonly string[];
  readonly failure: { instance: Instance; error: StepFailure } | undefined;
}

/** Switches, starts and checks every instance in the file's order; stops at the first failure. */
export async function activate(job: Job, file: DeployFile, release: string): Promise<Activation> {
  const targets = file.instances.map((instance) => jobTarget(job, file, instance, release));
  const blocking = inTheWay(runningTargets(job), targets);
  const switched: Instance[] = [];
  for (const target of targets) {
    const { instance } = target;
    try {
      if (target === targets[0]) noteSecrets(job, targets);
      await prepareSwitch(job, target);
      // From here on something may have been stopped: a failure rolls it back.
      switched.push(instance);
      if (switched.length === 1) await stopBlocking(job, blocking);
      await reported(job.reporter, `switch ${instance.name}`, () => switchOver(job, target));
      const started = await start(job, target);
      await checkHealth(job, target, started);
    } catch (error) {
      const stopped = switched.length > 0 ? blocking.map((each) => each.instance.name) : [];
      const failure = { instance, error: asStepFailure(error, job.stages.now) };
      return { switched, stopped, failure };
    }
  }
  return { switched, stopped: [], failure: undefined };
}

function noteSecrets(job: Job, targets: readonly ReleaseTarget[]): void {
  const names = targets.map(({ instance }) => instance.name);
  noteStarting(job, job.app.app, names, job.secrets);
}

/** What runs of the app now, also of instances that the commit no longer names. */
function runningTargets(job: Job): ReleaseTarget[] {
  return Object.entries(job.app.instances).flatMap(([name, { current }]) => {
    const target = current && keptTarget(interruptible(job), name, current);
    return target ? [target] : [];
  });
}

/** Stops instances whose port another one needs: instances were renamed, or swap their ports. */
async function stopBlocking(job: Job, blocking: readonly ReleaseTarget[]): Promise<void> {
  if (job.partial && blocking.length > 0) {
    const names = blocking.map(({ instance }) => instance.name).join(', ');
    const why = `its port is used by ${names}: deploy all instances at once`;
    throw new StepFailure('switch', `switch: ${why}`, '', 'operator');
  }
  for (const target of blocking) {
    const { name } = target.instance;
    markStage(job, 'switch', name);
    await reported(job.reporter, `stop ${name}: its port is needed`, () =>
      driverFor(target.start).stop(target),
    );
  }
}

async function prepareSwitch(job: Job, target: ReleaseTarget): Promise<void> {
  if (job.signal.aborted)
    throw new StepFailure('switch', 'switch: was interrupted', '', 'operator');
  checkReady(job, target);
  await runHook(job, target, 'pre_switch');
  markStage(job, 'switch', target.instance.name);
}

async function switchOver(job: Job, target: ReleaseTarget): Promise<void> {
  const { name } = target.instance;
  const appPaths = job.paths.app(job.app.app);
  const previous = previousOf(job, name);
  const running = previous && keptTarget(interruptible(job), name, previous);
  // Started in another way, the previous release would keep running beside the new one.
  if (running) await stopUnlessReplaced(running, target.start);
  switchTo(appPaths, name, releaseOf(target));
}

async function start(job: Job, target: ReleaseTarget): Promise<Started> {
  const driver = driverFor(target.start);
  if (target.start.type === 'none') return driver.start(target);
  markStage(job, 'start');
  return reported(job.reporter, `start ${target.instance.name}`, () => driver.start(target));
}

async function checkHealth(job: Job, target: ReleaseTarget, started: Started): Promise<void> {
  const { health } = target.file;
  if (!health) return;
  markStage(job, 'health');
  await reported(job.reporter, `health of ${target.instance.name}`, () =>
    waitHealthy(health, target, started),
  );
}

/**
 * Rolls the switched instances back, last first, and starts those again that were stopped for them.
 * It is never interrupted: Ctrl-C may have been what started it.
 */
export async function rollBackSwitched(
  job: Job,
  file: DeployFile,
  release: string,
  { switched, stopped }: Activation,
): Promise<Move[]> {
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
