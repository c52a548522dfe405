/** Switching one instance back to a release that was active before. */
import type { Deployed } from '@runner/common/apps/state';
import { isThere } from '@runner/common/files/read';
import type { Version } from '../journal/operation.ts';
import { StepFailure } from '../run/step.ts';
import { bringUp, type InStage } from './bring-up.ts';
import { activeRelease, switchOff } from './current-link.ts';
import { driverFor, takesThePlaceOf } from './drivers/choose.ts';
import { startsBeside } from './place.ts';
import { inTheWay } from './ports.ts';
import { goLive, instanceState, stopSlot } from './slots.ts';
import {
  besideItself,
  keptTarget,
  type ReleaseTarget,
  releaseOf,
  type TargetBase,
} from './target.ts';

/**
 * Makes `previous` active again for an instance and waits until it is healthy by its own
 * `.deploy.yml`. `running` is what runs, or was being started; undefined if that is unknown. Without
 * a previous version, the instance is stopped and its links removed. Throws a StepFailure, also if
 * the previous version cannot be restored.
 */
export async function switchBack(
  base: TargetBase,
  name: string,
  running: ReleaseTarget | undefined,
  previous: Deployed | null,
  inStage: InStage = (_, body) => body(),
): Promise<void> {
  const appPaths = base.paths.app(base.app);
  const own = appPaths.instance(name);
  const isGone = !previous || !isThere(appPaths.release(previous.release));
  const target = isGone ? undefined : placed(base, keptTarget(base, name, previous), running);
  if (running) await stopUnlessBeside(base, { ...running, signal: base.signal }, target);
  if (!previous) {
    switchOff(own);
    return;
  }
  const isActive = activeRelease(base.paths, base.app, name) === previous.release;
  if (!target) {
    if (!isActive) switchOff(own);
    const why = isGone ? 'its release is gone' : 'its .deploy.yml cannot be read';
    throw new StepFailure('rollback', `${previous.version} cannot be restored: ${why}`, 'server');
  }
  await bringUp(base, target, inStage);
  await goLive(base, target);
  if (running && isStrayBeside(base, running, target)) await driverFor(running.start).stop(running);
}

/** A running release is started again beside itself, so that it keeps serving. */
function placed(
  base: TargetBase,
  target: ReleaseTarget | undefined,
  running: ReleaseTarget | undefined,
): ReleaseTarget | undefined {
  if (!target || !running || !startsBeside(target.instance)) return target;
  const isItself = target.slot === running.slot && target.release === running.release;
  return isItself ? besideItself(base, target) : target;
}

/** Whether `running` has to be stopped: it was started without slots, and is not kept beside `target`. */
function isStrayBeside(base: TargetBase, running: ReleaseTarget, target: ReleaseTarget): boolean {
  if (running.slot !== undefined || target.slot === undefined) return false;
  const { before_traffic: before } = instanceState(base, target.instance.name);
  return before?.release !== releaseOf(running);
}

/** A planned move of an instance between kept releases. */
interface PlannedMove {
  readonly instance: string;
  readonly from: Version;
  readonly to: Version;
}

/** Instances that have a port now which another one is to have: they swapped their ports. */
export function blockingMoves(
  base: TargetBase,
  moves: readonly PlannedMove[],
): readonly ReleaseTarget[] {
  const targets = (which: 'from' | 'to') =>
    moves
      .flatMap((move) => keptTarget(base, move.instance, move[which]) ?? [])
      .filter((target) => !startsBeside(target.instance));
  return moves.length < 2 ? [] : inTheWay(targets('from'), targets('to'));
}

/** Stops each of these as its `.deploy.yml` says. Throws a StepFailure. */
export async function stopAll(targets: readonly ReleaseTarget[]): Promise<void> {
  for (const target of targets) await driverFor(target.start).stop(target);
}

/** Stops what runs, unless the next one is started beside it, or starting that ends it anyway. */
export async function stopUnlessBeside(
  base: TargetBase,
  running: ReleaseTarget,
  next: ReleaseTarget | undefined,
): Promise<void> {
  if (next) {
    const overlap = startsBeside(next.instance) || startsBeside(running.instance);
    if (running.slot !== next.slot && overlap) return;
    if (running.slot === next.slot && takesThePlaceOf(next.start, running.start)) return;
  }
  if (running.slot) await stopSlot(base, running.instance.name, running.slot);
  else await driverFor(running.start).stop(running);
}
