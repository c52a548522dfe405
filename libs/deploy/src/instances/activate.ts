/** Bringing a release to its instances: switch, start, health. */
import { noteStarting } from '@runner/common/app-secrets/change';
import type { Instance } from '@runner/common/deploy-file/instance';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { markStage } from '../journal/mark.ts';
import type { Job } from '../journal/operation.ts';
import { reported } from '../report/reporter.ts';
import { asStepFailure, StepFailure, withEnding } from '../run/step.ts';
import { bringUp } from './bring-up.ts';
import { driverFor } from './drivers/choose.ts';
import { runHook } from './hooks.ts';
import { startsBeside } from './place.ts';
import { inTheWay } from './ports.ts';
import { type Seen, startProber } from './probe.ts';
import { checkReady } from './ready.ts';
import { goLive, movePortBack } from './slots.ts';
import { stopUnlessBeside } from './switch-back.ts';
import {
  interruptible,
  jobTarget,
  keptTarget,
  previousOf,
  type ReleaseTarget,
  uninterrupted,
} from './target.ts';

/** Ends the message of a deploy that changed nothing for the app's users. */
export const UNSWITCHED = 'nothing was switched';

/** How far a release was brought to its instances. */
export interface Activation {
  /** Instances that were switched, in order. */
  readonly switched: readonly Instance[];
  /** Instances whose release was started in a slot, and got no request. */
  readonly waiting: readonly ReleaseTarget[];
  /** Instances that were stopped first because another one needs their port. */
  readonly stopped: readonly string[];
  readonly failure: { instance: Instance; error: StepFailure } | undefined;
  /** What a prober saw; undefined if nothing had been there to ask. */
  readonly seen: Seen | undefined;
}

/**
 * Brings a release to every instance, and stops at the first failure. Instances with slots come
 * first: all of them are started and healthy before the first one gets a request.
 */
export async function activate(job: Job, file: DeployFile, release: string): Promise<Activation> {
  const targets = file.instances.map((instance) => jobTarget(job, file, instance, release));
  const beside = targets.filter(({ instance }) => startsBeside(instance));
  const others = targets.filter((target) => !beside.includes(target));
  const probers = await Promise.all(targets.filter(wasActive).map(startProber));
  const switched: Instance[] = [];
  const waiting: ReleaseTarget[] = [];
  const blocking = inTheWay(runningTargets(job), others);
  let at = targets[0] as ReleaseTarget;
  let error: StepFailure | undefined;
  try {
    noteSecrets(job, targets);
    for (at of beside) {
      await prepare(job, at);
      waiting.push(at);
      await startBeside(job, at);
    }
    for (at of beside) {
      await moveRequests(job, at);
      switched.push(at.instance);
      waiting.shift();
    }
    for (at of others) {
      const isFirst = at === others[0];
      await prepare(job, at);
      // From here on something may have been stopped: a failure rolls it back.
      switched.push(at.instance);
      if (isFirst) await stopBlocking(job, blocking);
      await replace(job, at);
    }
  } catch (cause) {
    error = explained(job, asStepFailure(cause, job.stages.now), at, switched.length > 0);
  }
  const stopped =
    error && others.some(({ instance }) => switched.includes(instance))
      ? blocking.map((each) => each.instance.name)
      : [];
  const failure = error && { instance: at.instance, error };
  const seen = worst(await Promise.all(probers.map((prober) => prober.end())));
  return { switched, waiting, stopped, failure, seen };

  function wasActive({ instance }: ReleaseTarget): boolean {
    return previousOf(job, instance.name) !== null;
  }
}

/** Of several instances: all probes, and the longest gap. */
function worst(all: readonly (Seen | undefined)[]): Seen | undefined {
  const seen = all.filter((each) => each !== undefined);
  if (seen.length === 0) return undefined;
  const sum = seen.reduce((probes, each) => probes + each.probes, 0);
  return { probes: sum, gap_ms: Math.max(...seen.map(({ gap_ms }) => gap_ms)) };
}

/** A failure before any request moved says so. */
function explained(
  job: Job,
  error: StepFailure,
  { slot, instance }: ReleaseTarget,
  hasSwitched: boolean,
): StepFailure {
  if (slot === undefined || !startsBeside(instance) || hasSwitched) return error;
  const previous = previousOf(job, instance.name);
  const serving = previous ? `${previous.version} keeps serving, ` : '';
  return withEnding(error, `; ${serving}${UNSWITCHED}`);
}

async function startBeside(job: Job, target: ReleaseTarget): Promise<void> {
  const { slot, instance } = target;
  const where = `${instance.name} in slot ${slot}`;
  await bringUp(interruptible(job), target, (stage, body) => {
    // Its place is taken without a word: nothing changes for anyone.
    if (stage === 'switch') return body();
    markStage(job, stage);
    return reported(
      job.reporter,
      stage === 'start' ? `start ${where}` : `health of ${where}`,
      body,
    );
  });
}

async function moveRequests(job: Job, target: ReleaseTarget): Promise<void> {
  const { name } = target.instance;
  if (job.signal.aborted) throw new StepFailure('traffic', 'traffic: was interrupted', 'operator');
  markStage(job, 'traffic', name);
  try {
    await reported(job.reporter, `switch ${name} to slot ${target.slot}`, () =>
      goLive(interruptible(job), target),
    );
  } catch (error) {
    await movePortBack(uninterrupted(job), name);
    throw error;
  }
}

function noteSecrets(job: Job, targets: readonly ReleaseTarget[]): void {
  const names = targets.map(({ instance }) => instance.name);
  noteStarting(job, job.app.app, names, job.secrets);
}

/** What runs of the app now, also of instances that the commit no longer names. */
function runningTargets(job: Job): ReleaseTarget[] {
  return Object.entries(job.app.instances).flatMap(([name, { current }]) => {
    const target = current && keptTarget(interruptible(job), name, current);
    return target && !startsBeside(target.instance) ? [target] : [];
  });
}

/** Stops instances whose port another one needs: instances were renamed, or swap their ports. */
async function stopBlocking(job: Job, blocking: readonly ReleaseTarget[]): Promise<void> {
  if (job.partial && blocking.length > 0) {
    const names = blocking.map(({ instance }) => instance.name).join(', ');
    const why = `its port is used by ${names}: deploy all instances at once`;
    throw new StepFailure('switch', `switch: ${why}`, 'operator');
  }
  for (const target of blocking) {
    const { name } = target.instance;
    markStage(job, 'switch', name);
    await reported(job.reporter, `stop ${name}: its port is needed`, () =>
      driverFor(target.start).stop(target),
    );
  }
}

async function prepare(job: Job, target: ReleaseTarget): Promise<void> {
  if (job.signal.aborted) throw new StepFailure('switch', 'switch: was interrupted', 'operator');
  checkReady(job, target);
  await runHook(job, target, 'pre_switch');
  if (!startsBeside(target.instance)) markStage(job, 'switch', target.instance.name);
}

/** Stops what runs, and starts the target in its place. */
async function replace(job: Job, target: ReleaseTarget): Promise<void> {
  const { name } = target.instance;
  const base = interruptible(job);
  const previous = previousOf(job, name);
  const running = previous && keptTarget(base, name, previous);
  const words = { switch: `switch ${name}`, start: `start ${name}`, health: `health of ${name}` };
  await bringUp(base, target, async (stage, body) => {
    if (stage !== 'switch') markStage(job, stage);
    return reported(job.reporter, words[stage], async () => {
      // Started in another way, the previous release would keep running beside the new one.
      if (stage === 'switch' && running) await stopUnlessBeside(base, running, target);
      return body();
    });
  });
  await goLive(base, target);
}
