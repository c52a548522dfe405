/** Bringing back the instances that a killed deploy or rollback had touched. */
import type { AppState, Deployed } from '@runner/common/apps/state';
import { namesIn } from '@runner/common/files/read';
import { activeRelease } from '../instances/current-link.ts';
import { driverFor } from '../instances/drivers/choose.ts';
import { processDriver } from '../instances/drivers/process.ts';
import { goBack } from '../instances/go-back.ts';
import { type AppParts, partsOfApp, partsOfRelease, targetOf } from '../instances/target.ts';
import type { Aftermath } from '../record/broken-instances.ts';
import type { DeployLog } from '../run/log.ts';
import { asStepFailure } from '../run/step.ts';
import type { Back, Dead, Recovery, Returned } from './interrupted.ts';

/**
 * Brings back every instance whose `current` is not what the state says, and every one that had
 * been touched: its link may be right again, and still nothing run.
 */
export async function bringBack(
  { io, paths, redact }: Recovery,
  app: AppState,
  dead: Dead,
  log: DeployLog,
): Promise<Returned> {
  const appPaths = paths.app(app.app);
  const back: Back[] = [];
  const problems: string[] = [];
  const aftermath: Aftermath[] = [];
  const parts = partsOfApp({ io, paths, app, log, redact });
  const touched = Array.isArray(dead.touched) ? dead.touched.map(String) : [];
  // A first deploy may have made an instance that the state does not know yet.
  const names = new Set([...Object.keys(app.instances), ...namesIn(appPaths.instances)]);
  for (const name of names) {
    const to = app.instances[name]?.current ?? null;
    const active = activeRelease(appPaths, name);
    const isRight = active === to?.release;
    if (isRight && !touched.includes(name)) continue;
    try {
      // Killed before its link was switched: at most it had been stopped.
      const wasSwitched = !isRight || dead.failed !== undefined;
      if (!wasSwitched && (!to || isRunning(parts, name, to))) continue;
      const { version, commit } = dead;
      const failed =
        isRight || active === undefined
          ? undefined
          : partsOfRelease(parts, name, { release: active, version, commit });
      if (!to && !failed) await processDriver.stop({ paths: appPaths.instance(name) });
      await goBack(parts, name, failed, to);
      aftermath.push({ instance: name, problem: undefined });
      if (wasSwitched) back.push({ instance: name, to });
    } catch (error) {
      const { message } = asStepFailure(error, 'start');
      problems.push(`rollback to ${to?.version ?? 'nothing'} failed: ${message}`);
      aftermath.push({ instance: name, problem: redact(message) });
    }
  }
  return { back, problems, aftermath };
}

function isRunning(parts: AppParts, name: string, current: Deployed): boolean {
  const known = partsOfRelease(parts, name, current);
  if (!known) return false;
  const target = targetOf(known);
  return driverFor(target.start).status(target) === 'running';
}
