/** Whether an operation whose process died had moved the requests to its version. */
import { liveSlot, type SlotState } from '@runner/common/apps/slots';
import { askNow } from '../instances/drivers/ask.ts';
import { driverFor } from '../instances/drivers/choose.ts';
import { unobserved } from '../instances/drivers/driver.ts';
import { waitHealthy } from '../instances/health.ts';
import { startsBeside } from '../instances/place.ts';
import { instancePaths, serve } from '../instances/slots.ts';
import { keptTarget } from '../instances/target.ts';
import type { Journal, Operation } from '../journal/operation.ts';
import { failureOf } from '../run/step.ts';

/** The releases that get requests through a slot. */
export function liveReleases({ paths, app: { app, instances } }: Operation): ReadonlySet<string> {
  const found = Object.entries(instances).map(([name, { slots }]) => {
    const live = liveSlot(paths.app(app).instance(name));
    return live && slots?.[live]?.release;
  });
  return new Set(found.filter((release) => release !== undefined));
}

/** Whether every instance of a deploy or rollback has its requests at the new version, healthy. */
export async function hasArrived(op: Operation, journal: Journal): Promise<boolean> {
  const targets = journal.instance.split(',').map((name) => {
    const held = arrivedIn(op, journal, name);
    return held && keptTarget(op, name, held);
  });
  for (const target of targets) {
    const { health } = target?.file ?? {};
    if (!target || !health || !startsBeside(target.instance)) return false;
    if (askNow(driverFor(target.start).status(target)) === 'stopped') return false;
    if (await failureOf('health', () => waitHealthy(health, target, unobserved))) return false;
  }
  // The command that moves requests may have been killed.
  for (const target of targets) {
    const failure = target && (await failureOf('traffic', () => serve(op, target)));
    if (failure) op.log.line(failure.message);
  }
  return true;
}

/** What gets the requests of an instance, if the killed operation moved them there. */
function arrivedIn(op: Operation, journal: Journal, name: string): SlotState | undefined {
  const { instances } = op.app;
  const live = liveSlot(instancePaths(op, name));
  const held = live && instances[name]?.slots?.[live];
  if (!held) return undefined;
  const isIts = held.deploy_id === journal.deploy_id;
  const isRestart = held.release === instances[name]?.current?.release;
  const isGoal = journal.rollback ? held.release === journal.rollback[name] : isIts;
  return isGoal && (!isRestart || isIts) ? held : undefined;
}
