/** Bringing a release up in its place: files, start, health. */
import { liveSlot } from '@runner/common/apps/slots';
import { StepFailure } from '../run/step.ts';
import { vacate } from './drain.ts';
import { askNow } from './drivers/ask.ts';
import { driverFor } from './drivers/choose.ts';
import { type Started, unobserved } from './drivers/driver.ts';
import { waitHealthy } from './health.ts';
import { startsBeside } from './place.ts';
import { elsewhereWords, isOpen } from './reach.ts';
import { instanceState, occupy } from './slots.ts';
import { type ReleaseTarget, releaseOf, type TargetBase } from './target.ts';

/** The stages in which a release is brought up. */
export type BringStage = 'switch' | 'start' | 'health';
/** Runs the body of a stage, and reports or records it. */
export type InStage = <T>(stage: BringStage, body: () => Promise<T>) => Promise<T>;

/**
 * Starts a target in its place and waits until it is healthy. One that still runs there, since it
 * drains, only has to be healthy. Throws a StepFailure.
 */
export async function bringUp(
  base: TargetBase,
  target: ReleaseTarget,
  inStage: InStage,
): Promise<void> {
  const { start, file } = target;
  let started = stillRuns(base, target) ? unobserved : undefined;
  if (!started) {
    await inStage('switch', async () => takePlace(base, target));
    const begin = () => driverFor(start).start(target);
    started = start.type === 'none' ? await begin() : await inStage('start', begin);
  }
  const { health } = file;
  const known = started;
  if (health) await inStage('health', () => waitHealthy(health, target, known).catch(listens));
  if (target.slot) await listens();

  async function listens(failure?: unknown): Promise<void> {
    const isDeaf = !known.death() && !(await isOpen(target.env.PORT));
    if (!target.slot || !isDeaf || target.signal.aborted) {
      if (failure) throw failure;
      return;
    }
    throw deaf(target, known);
  }
}

/** Empties the place, unless starting does that, and puts the release there. */
async function takePlace(base: TargetBase, target: ReleaseTarget): Promise<void> {
  const { slot, instance } = target;
  if (slot !== undefined && startsBeside(instance)) await vacate(base, instance.name, slot);
  occupy(base, target);
}

function deaf({ instance, env, file }: ReleaseTarget, started: Started): StepFailure {
  const what = `${instance.name}: the app did not open ${env.PORT}`;
  const within = file.health ? ` within ${file.health.within / 1000} s` : '';
  const why = elsewhereWords(started.pids?.() ?? []);
  return new StepFailure('health', `health: ${what}${within}: ${why}`);
}

/** Whether a release still runs beside the one that is live. */
function stillRuns(base: TargetBase, target: ReleaseTarget): boolean {
  const { slots, before_traffic: before } = instanceState(base, target.instance.name);
  const held = target.slot === undefined ? before : slots?.[target.slot];
  if (held?.release !== releaseOf(target)) return false;
  const live = liveSlot(base.paths.app(base.app).instance(target.instance.name));
  return live !== target.slot && askNow(driverFor(target.start).status(target)) !== 'stopped';
}
