/** The steps that make releases active: of a deploy, a rollback, a start, a restart, and of undoing them. */
import { type Operation, say } from '../journal/operation.ts';
import type { Step } from '../journal/step.ts';
import { StepFailure, withEnding } from '../run/step.ts';
import { vacate } from './drain.ts';
import { askNow } from './drivers/ask.ts';
import { driverFor, takesThePlaceOf } from './drivers/choose.ts';
import { type Started, type Target, unobserved } from './drivers/driver.ts';
import { waitHealthy } from './health.ts';
import { startsBeside } from './place.ts';
import { inTheWay } from './ports.ts';
import { elsewhereWords, isOpen } from './reach.ts';
import { instanceState, put, serve, stopSlot } from './slots.ts';
import { withPortHolder } from './stranger.ts';
import { keptTarget, releaseOf } from './target.ts';

/** The stages in which a target is made active. */
export type ActiveStage = 'switch' | 'start' | 'health' | 'traffic';

export interface ActivationPlan {
  /** What is reported; undefined: nothing. */
  title?(stage: ActiveStage, target: Target): string | undefined;
  /** What precedes a target. */
  before?(target: Target): readonly Step[];
  /** What comes once all that start beside others are healthy, and before they get the requests. */
  between?(targets: readonly Target[]): readonly Step[];
  /** Start what still runs once more. */
  readonly isFresh?: boolean;
  /** Other instances stay as they are, and so are not stopped for a port. */
  readonly isPartial?: boolean;
}

/**
 * Makes targets active. Those with slots come first: all of them are started and healthy before the
 * first one gets a request.
 */
export function activation(op: Operation, targets: readonly Target[], way: ActivationPlan): Step[] {
  const { before = () => [], between = () => [] } = way;
  const beside = targets.filter(({ instance }) => startsBeside(instance));
  const others = targets.filter((target) => !beside.includes(target));
  return [
    ...beside.flatMap((target) => [...before(target), ...starting(op, target, way)]),
    ...between(beside),
    ...beside.map((target) => serving(op, target, way)),
    ...others.flatMap((target, at) => [
      ...before(target),
      ...(at === 0 ? makingWay(op, others, targets, way) : []),
      ...activationOf(op, target, way),
    ]),
  ];
}

/** Makes one target active. */
export function activationOf(op: Operation, target: Target, way: ActivationPlan = {}): Step[] {
  return [...starting(op, target, way), serving(op, target, way)];
}

/** Starts a target in its place and waits until it is healthy. One that still runs there only has to be healthy. */
function starting(op: Operation, target: Target, { title, isFresh = false }: ActivationPlan) {
  const { instance, start, slot } = target;
  const isBeside = startsBeside(instance);
  // For an instance with slots nothing changes yet.
  const first = isBeside ? 'start' : 'switch';
  const step = (stage: ActiveStage, isBrief: boolean, run: () => unknown) => {
    const { name } = instance;
    return { stage, instance: name, slot, title: title?.(stage, target), isBrief, run };
  };
  let started: Started | undefined;
  // The way back to a version that was kept running needs one write of the journal, that of `traffic`.
  const isWarm = isBeside && !isFresh && isRunning(op, target);
  const take = async () => {
    if (!isFresh && isRunning(op, target)) started = unobserved;
    else await takePlace(op, target, isFresh);
  };
  const run = async () => {
    started ??= await driverFor(start)
      .start(target)
      .catch((error: unknown) => {
        throw error instanceof StepFailure ? withPortHolder(target, error) : error;
      });
    const { remark, left } = started;
    if (isFresh && left)
      throw new StepFailure('start', `${left} still runs: ${remark}`, { blame: 'operator' });
    if (remark) say(op, `start of ${instance.name}: ${remark}`);
  };
  const check = () => becomesHealthy(target, started ?? unobserved);
  return [
    { ...step(first, isWarm, take), isTouched: !isBeside },
    step('start', isWarm || start.type === 'none', run),
    step('health', isWarm || (!target.file.health && slot === undefined), check),
  ];
}

/** From here on the target gets the requests. */
function serving(op: Operation, target: Target, { title }: ActivationPlan): Step {
  const { instance, slot } = target;
  return {
    stage: 'traffic',
    // Without slots it has got them since it was started.
    isBrief: !startsBeside(instance),
    title: title?.('traffic', target),
    instance: instance.name,
    slot,
    isTouched: true,
    run: () => serve(op, target),
  };
}

/** Stops instances whose port another one needs: instances were renamed, or swap their ports. */
function makingWay(
  op: Operation,
  others: readonly Target[],
  targets: readonly Target[],
  { isPartial = false }: ActivationPlan,
): Step[] {
  const running = Object.entries(op.app.instances).flatMap(([name, { current }]) => {
    const target = current && keptTarget(op, name, current);
    return target && !startsBeside(target.instance) ? [target] : [];
  });
  const moved = targets.map(({ instance }) => instance.name);
  return inTheWay(running, others).map((target) => {
    const { name } = target.instance;
    const isKept = isPartial && !moved.includes(name);
    return {
      stage: 'switch',
      title: isKept ? undefined : `stop ${name}: its port is needed`,
      instance: name,
      isTouched: !isKept,
      run() {
        if (!isKept) return driverFor(target.start).stop(target);
        const verb = op.journal?.rollback ? 'roll back' : 'deploy';
        const words = `switch: its port is used by ${name}: ${verb} all instances at once`;
        throw new StepFailure('switch', words, { blame: 'operator' });
      },
    };
  });
}

/** Empties the place, unless starting does that, and puts the release there. */
async function takePlace(op: Operation, target: Target, isFresh: boolean): Promise<void> {
  const { slot, instance, start } = target;
  const { name } = instance;
  if (slot !== undefined && startsBeside(instance)) await vacate(op, name, slot);
  else {
    const current = op.app.instances[name]?.current;
    const running = current && keptTarget(op, name, current);
    if (running) await stopUnlessBeside(op, running, target);
    // `docker compose up` alone keeps containers that have not changed.
    if (isFresh && start.type === 'compose') await driverFor(start).stop(target);
  }
  put(op, target);
}

/** Stops what runs, unless the next one is started beside it, or starting that ends it anyway. */
export async function stopUnlessBeside(op: Operation, running: Target, next: Target | undefined) {
  if (next) {
    const overlap = startsBeside(next.instance) || startsBeside(running.instance);
    if (running.slot !== next.slot && overlap) return;
    // Started in another way, what runs would keep running beside the next one.
    if (running.slot === next.slot && takesThePlaceOf(next.start, running.start)) return;
  }
  if (running.slot) await stopSlot(op, running.instance.name, running.slot);
  else await driverFor(running.start).stop(running);
}

async function becomesHealthy(target: Target, started: Started): Promise<void> {
  const { health } = target.file;
  const listens = async (failure?: unknown) => {
    // What was odd at its start may be why.
    if (started.remark && failure instanceof StepFailure)
      throw withEnding(failure, `; ${started.remark}`);
    const isDeaf = target.slot && !started.death() && !(await isOpen(target.env.PORT));
    if (isDeaf && !target.signal.aborted) throw deaf(target, started);
    if (failure) throw failure;
  };
  if (health) await waitHealthy(health, target, started).catch(listens);
  await listens();
}

function deaf({ instance, env, file }: Target, started: Started): StepFailure {
  const what = `${instance.name}: the app did not open ${env.PORT}`;
  const within = file.health ? ` within ${file.health.within / 1000} s` : '';
  const why = elsewhereWords(started.pids?.() ?? []);
  return new StepFailure('health', `health: ${what}${within}: ${why}`);
}

/** Whether the release of a target still runs: in its slot, from before `traffic`, or because it was never stopped. */
export function isRunning(op: Operation, target: Target): boolean {
  const { slots, before_traffic: before } = instanceState(op, target.instance.name);
  const held = target.slot === undefined ? before : slots?.[target.slot];
  if (held?.release !== releaseOf(target))
    return target.slot === undefined && (driverFor(target.start).runs?.(target) ?? false);
  return askNow(driverFor(target.start).status(target)) !== 'stopped';
}
