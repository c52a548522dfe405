/** A deploy that was killed after the requests had moved: it goes forward if its version is healthy. */
import { liveSlot, type SlotState } from '@runner/common/apps/slots';
import type { AppState, Deploying } from '@runner/common/apps/state';
import { askNow } from '../instances/drivers/ask.ts';
import { driverFor } from '../instances/drivers/choose.ts';
import { unobserved } from '../instances/drivers/driver.ts';
import { waitHealthy } from '../instances/health.ts';
import { movePortBack } from '../instances/slots.ts';
import { keptTarget, type TargetBase } from '../instances/target.ts';
import { failureOf } from '../run/step.ts';

/** Whether every instance of a killed deploy or rollback has its requests at the new version, healthy. */
export async function hasArrived(
  base: TargetBase,
  app: AppState,
  dead: Deploying,
): Promise<boolean> {
  const names = dead.instance.split(',');
  const held = names.map((name) => arrivedIn(base, app, dead, name));
  if (held.some((each) => each === undefined)) return false;
  for (const [index, name] of names.entries()) {
    if (!(await isHealthy(base, name, held[index] as SlotState))) return false;
  }
  for (const name of names) await movePortBack(base, name);
  return true;
}

/** What gets the requests of an instance, if the killed operation moved them there. */
function arrivedIn(
  { paths }: TargetBase,
  { app, instances }: AppState,
  { deploy_id: deployId, rollback }: Deploying,
  name: string,
): SlotState | undefined {
  const live = liveSlot(paths.app(app).instance(name));
  const held = live && instances[name]?.slots?.[live];
  if (!held) return undefined;
  const isIt = rollback ? held.release === rollback[name] : held.deploy_id === deployId;
  const isRestart = held.release === instances[name]?.current?.release;
  return isIt && (!isRestart || held.deploy_id === deployId) ? held : undefined;
}

async function isHealthy(base: TargetBase, name: string, held: SlotState): Promise<boolean> {
  const target = keptTarget(base, name, held);
  const { health } = target?.file ?? {};
  if (!target || !health) return false;
  if (askNow(driverFor(target.start).status(target)) === 'stopped') return false;
  return !(await failureOf('health', () => waitHealthy(health, target, unobserved)));
}
