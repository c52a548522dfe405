/** Going back: the release that was active before is switched on and started again. */
import type { Deployed } from '@runner/common/apps/state';
import type { Start } from '@runner/common/deploy-file/read';
import { activeRelease, switchOff, switchTo } from './current-link.ts';
import { driverFor, takesThePlaceOf } from './drivers/choose.ts';
import { waitHealthy } from './health.ts';
import { type AppParts, partsOfRelease, type TargetParts, targetOf } from './target.ts';

/** Called as it goes on, so that a kill can be told. */
export type Mark = (stage: 'start' | 'health') => void;

/**
 * Makes `previous` active again for the instance `name` and waits until it is healthy by its own
 * `.deploy.yml`. `running` is what runs, or was being started; undefined when that is unknown. With
 * nothing to go back to, it is stopped and `current` removed. Throws a StepFailure.
 */
export async function goBack(
  parts: AppParts,
  name: string,
  running: TargetParts | undefined,
  previous: Deployed | null,
  mark: Mark = () => {},
): Promise<void> {
  const appPaths = parts.paths.app(parts.app);
  const before = previous ? partsOfRelease(parts, name, previous) : undefined;
  if (running) await stopUnlessReplaced({ ...running, signal: parts.signal }, before?.file.start);
  if (!previous || !before) {
    switchOff(appPaths, name);
    return;
  }
  if (activeRelease(appPaths, name) !== previous.release) {
    switchTo(appPaths, name, previous.release);
  }
  const target = targetOf(before);
  mark('start');
  const started = await driverFor(target.start).start(target);
  if (!before.file.health) return;
  mark('health');
  await waitHealthy(before.file.health, target, started);
}

/** Stops what runs when `next`, which is started after it, would leave it running. */
export async function stopUnlessReplaced(
  running: TargetParts,
  next: Start | undefined,
): Promise<void> {
  const target = targetOf(running);
  if (next && takesThePlaceOf(next, target.start)) return;
  await driverFor(target.start).stop(target);
}
