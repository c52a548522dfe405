/** Bringing a release to its instances: switch, start, health; and back again when one fails. */
import type { Deployed } from '@runner/common/apps/state';
import type { DeployFile, Instance } from '@runner/common/deploy-file/read';
import { markStage } from '../record/in-progress.ts';
import type { Job } from '../record/job.ts';
import { reported } from '../report/reporter.ts';
import { asStepFailure, StepFailure } from '../run/step.ts';
import { switchTo } from './current-link.ts';
import { driverFor } from './drivers/choose.ts';
import type { Driver, Started, Target } from './drivers/driver.ts';
import { goBack, stopUnlessReplaced } from './go-back.ts';
import { waitHealthy } from './health.ts';
import { runHook } from './hooks.ts';
import { partsOf, previousOf } from './job-target.ts';
import { partsOfApp, partsOfRelease, type TargetParts, targetOf } from './target.ts';

/** What became of the instances. */
export interface Activation {
  /** Instances whose `current` was switched, in order. */
  readonly switched: Instance[];
  readonly failure: { instance: Instance; error: StepFailure } | undefined;
}

/** Switches, starts and checks every instance in the file's order; stops at the first failure. */
export async function activate(job: Job, file: DeployFile, release: string): Promise<Activation> {
  const switched: Instance[] = [];
  for (const instance of file.instances) {
    try {
      await activateOne(job, partsOf(job, file, instance, release), switched);
    } catch (error) {
      return { switched, failure: { instance, error: asStepFailure(error, job.stage) } };
    }
  }
  return { switched, failure: undefined };
}

async function activateOne(job: Job, parts: TargetParts, switched: Instance[]): Promise<void> {
  const { instance, file } = parts;
  const target = targetOf(parts);
  const driver = driverFor(target.start);
  if (job.signal.aborted)
    throw new StepFailure('switch', 'switch: was interrupted', '', 'operator');
  await runHook(job, parts, 'pre_switch');
  markStage(job, 'switch', instance.name);
  await reported(job.reporter, `switch ${instance.name}`, async () => {
    // From here on something may have been stopped: a failure goes back.
    switched.push(instance);
    await stopPrevious(job, parts);
    switchTo(job.paths.app(job.app.app), instance.name, parts.release);
  });
  const started = await start(job, driver, target);
  const { health } = file;
  if (health) {
    markStage(job, 'health');
    await reported(job.reporter, `health of ${instance.name}`, () =>
      waitHealthy(health, target, started),
    );
  }
}

async function start(job: Job, driver: Driver, target: Target): Promise<Started> {
  if (target.start.type === 'none') return driver.start(target);
  markStage(job, 'start');
  return reported(job.reporter, `start ${target.instance.name}`, () => driver.start(target));
}

/** What the release before started in another way would go on beside the new one. */
async function stopPrevious(job: Job, parts: TargetParts): Promise<void> {
  const previous = previousOf(job, parts.instance.name);
  const before = previous && partsOfRelease(parts, parts.instance.name, previous);
  if (before) await stopUnlessReplaced(before, parts.file.start);
}

/** One instance that was brought back, or what kept it from it. */
export interface WayBack {
  readonly instance: Instance;
  readonly to: Deployed | null;
  readonly error: string | undefined;
}

/**
 * Rolls the switched instances back, last first. It is not interrupted: an operator's Ctrl-C began
 * it, or must wait for it.
 */
export async function rollBack(
  job: Job,
  file: DeployFile,
  release: string,
  switched: readonly Instance[],
): Promise<WayBack[]> {
  const ways: WayBack[] = [];
  const parts = partsOfApp(job);
  for (const instance of [...switched].reverse()) {
    const to = previousOf(job, instance.name);
    const step = to
      ? `roll back ${instance.name} to ${to.version}`
      : `stop ${instance.name}: no earlier version`;
    try {
      await reported(job.reporter, step, () =>
        goBack(parts, instance.name, partsOf(job, file, instance, release), to),
      );
      ways.push({ instance, to, error: undefined });
    } catch (error) {
      ways.push({ instance, to, error: asStepFailure(error, 'start').message });
    }
  }
  return ways;
}
