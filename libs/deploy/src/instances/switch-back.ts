/** Switching one instance back to a release that was active before. */
import type { Deployed } from '@runner/common/apps/state';
import type { Start } from '@runner/common/deploy-file/read';
import { isThere } from '@runner/common/files/read';
import type { Version } from '../record/operation.ts';
import { StepFailure } from '../run/step.ts';
import { activeRelease, switchOff, switchTo } from './current-link.ts';
import { driverFor, takesThePlaceOf } from './drivers/choose.ts';
import { waitHealthy } from './health.ts';
import { inTheWay } from './ports.ts';
import { keptTarget, type ReleaseTarget, type TargetBase } from './target.ts';

/**
 * Makes `previous` active again for an instance and waits until it is healthy by its own
 * `.deploy.yml`. `running` is what runs, or was being started; undefined if that is unknown. Without
 * a previous version, the instance is stopped and `current` removed. Throws a StepFailure, also if the
 * previous version cannot be restored.
 */
export async function switchBack(
  base: TargetBase,
  name: string,
  running: ReleaseTarget | undefined,
  previous: Deployed | null,
  mark: (stage: 'start' | 'health') => void = () => {},
): Promise<void> {
  const appPaths = base.paths.app(base.app);
  const isGone = !previous || !isThere(appPaths.release(previous.release));
  const target = isGone ? undefined : keptTarget(base, name, previous);
  if (running) await stopUnlessReplaced({ ...running, signal: base.signal }, target?.start);
  if (!previous) {
    switchOff(appPaths, name);
    return;
  }
  if (!target) {
    if (activeRelease(appPaths, name) !== previous.release) switchOff(appPaths, name);
    const why = isGone ? 'its release is gone' : 'its .deploy.yml cannot be read';
    throw new StepFailure(
      'rollback',
      `${previous.version} cannot be restored: ${why}`,
      '',
      'server',
    );
  }
  if (activeRelease(appPaths, name) !== previous.release) {
    switchTo(appPaths, name, previous.release);
  }
  mark('start');
  const started = await driverFor(target.start).start(target);
  if (!target.file.health) return;
  mark('health');
  await waitHealthy(target.file.health, target, started);
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
    moves.flatMap((move) => keptTarget(base, move.instance, move[which]) ?? []);
  return moves.length < 2 ? [] : inTheWay(targets('from'), targets('to'));
}

/** Stops each of these as its `.deploy.yml` says. Throws a StepFailure. */
export async function stopAll(targets: readonly ReleaseTarget[]): Promise<void> {
  for (const target of targets) await driverFor(target.start).stop(target);
}

/** Stops what runs, unless starting `next` ends it anyway. */
export async function stopUnlessReplaced(
  running: ReleaseTarget,
  next: Start | undefined,
): Promise<void> {
  if (next && takesThePlaceOf(next, running.start)) return;
  await driverFor(running.start).stop(running);
}
