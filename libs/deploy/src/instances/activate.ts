/** Bringing a release to its instances: switch, start, health; and rolling them back on failure. */
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
  readonly failure: { instance: Instance; error: StepFailure } | undefined;
}

/** Switches, starts and checks every instance in the file's order; stops at the first failure. */
export async function activate(job: Job, file: DeployFile, release: string): Promise<Activation> {
  const switched: Instance[] = [];
  for (const instance of file.instances) {
    const target = jobTarget(job, file, instance, release);
    try {
      await prepareSwitch(job, target);
      // From here on something may have been stopped: a failure rolls it back.
      switched.push(instance);
      await reported(job.reporter, `switch ${instance.name}`, () => switchOver(job, target));
      const started = await start(job, target);
      await checkHealth(job, target, started);
    } catch (error) {
      return { switched, failure: { instance, error: asStepFailure(error, job.stage) } };
    }
  }
  return { switched, failure: undefined };
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
 * Rolls the switched instances back, last first. It is never interrupted: Ctrl-C may have been what
 * started it.
 */
export async function rollBackSwitched(
  job: Job,
  file: DeployFile,
  release: string,
  switched: readonly Instance[],
): Promise<Move[]> {
  const moves: Move[] = [];
  for (const instance of [...switched].reverse()) {
    const { name } = instance;
    const to = previousOf(job, name);
    const move = { instance: name, from: job, to };
    const step = to ? `roll back ${name} to ${to.version}` : `stop ${name}: no earlier version`;
    try {
      await reported(job.reporter, step, () =>
        switchBack(uninterrupted(job), name, jobTarget(job, file, instance, release), to),
      );
      moves.push(move);
    } catch (error) {
      moves.push({ ...move, problem: job.redact(asStepFailure(error, 'start').message) });
    }
  }
  return moves;
}
