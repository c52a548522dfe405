/** Going back: the release that was active before is switched on and started again. */
import type { Deployed } from '@runner/common/apps';
import type { Instance } from '@runner/common/deploy-file';
import { activeRelease, switchOff, switchTo } from './activate.ts';
import { driverFor } from './drivers/choose.ts';
import { waitHealthy } from './health.ts';
import { fileOfRelease, type TargetParts, targetOf } from './instance-target.ts';

/** Parts of a target that are the same for the version before. */
export type BackParts = Omit<TargetParts, 'file' | 'release' | 'version' | 'commit' | 'instance'>;

/** Called as it goes on, so that a kill can be told. */
export type Mark = (stage: 'start' | 'health') => void;

/**
 * Makes `previous` active again for an instance and waits until it is healthy by its own
 * `.deploy.yml`. `failed` is what was being started; undefined when nothing was. With nothing to
 * go back to, what was started is stopped and `current` removed. Throws a StepFailure.
 */
export async function goBack(
  parts: BackParts,
  instance: Instance,
  failed: TargetParts | undefined,
  previous: Deployed | null,
  mark: Mark = () => {},
): Promise<void> {
  const appPaths = parts.paths.app(parts.app);
  const target = previous && targetBefore(parts, instance.name, previous);
  if (failed && (!target || target.start.type !== failed.file.start.type)) {
    const started = targetOf({ ...failed, signal: parts.signal });
    await driverFor(started.start).stop(started);
  }
  if (!previous || !target) {
    switchOff(appPaths, instance.name);
    return;
  }
  if (activeRelease(appPaths, instance.name) !== previous.release) {
    switchTo(appPaths, instance.name, previous.release);
  }
  mark('start');
  const started = await driverFor(target.start).start(target);
  if (!target.health) return;
  mark('health');
  await waitHealthy(target.health, target, started);
}

/** The instance as a release describes it; null when that cannot be read any more. */
export function targetBefore(parts: BackParts, name: string, previous: Deployed) {
  const file = fileOfRelease(parts.paths, parts.app, previous);
  if (!file) return null;
  const instance = file.instances.find((each) => each.name === name) ?? {
    name,
    domain: undefined,
    env: {},
  };
  const { release, version, commit } = previous;
  return {
    ...targetOf({ ...parts, file, instance, release, version, commit }),
    health: file.health,
  };
}
