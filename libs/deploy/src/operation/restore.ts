/** Restoring the instances that a killed deploy or rollback had touched. */
import { liveSlot, SLOTS } from '@runner/common/apps/slots';
import type { Deployed, Deploying } from '@runner/common/apps/state';
import { namesIn } from '@runner/common/files/read';
import { activeRelease } from '../instances/current-link.ts';
import { askNow } from '../instances/drivers/ask.ts';
import { driverFor } from '../instances/drivers/choose.ts';
import { endInstance } from '../instances/drivers/process.ts';
import { instanceState, stopSlot } from '../instances/slots.ts';
import { switchBack } from '../instances/switch-back.ts';
import { keptTarget, type TargetBase, uninterrupted } from '../instances/target.ts';
import type { Move, Operation } from '../journal/operation.ts';
import type { DeployLog } from '../run/log.ts';
import { failureOf } from '../run/step.ts';
import { openSandboxAnyway } from '../sandbox/sandbox.ts';

/** An instance that was restored, or could not be. */
export interface RestoredMove extends Move {
  /** false: it had only been stopped, and was started again. */
  readonly wasSwitched: boolean;
}

/**
 * Restores every instance whose `current` differs from the state, and every one that had been
 * touched: its link may be right again although nothing runs.
 */
export async function restoreAfterKill(
  operation: Operation,
  dead: Deploying,
  log: DeployLog,
): Promise<RestoredMove[]> {
  const { app, paths, redact } = operation;
  const sandbox = openSandboxAnyway({ paths, env: operation.io.env, app: app.app, note: log.line });
  const base = uninterrupted({ ...operation, deployId: dead.deploy_id, log, sandbox });
  const moves: RestoredMove[] = [];
  // A first deploy may have made an instance that is not in the state yet.
  const names = new Set([...Object.keys(app.instances), ...namesIn(paths.app(app.app).instances)]);
  for (const instance of names) {
    const to = app.instances[instance]?.current ?? null;
    const wasSwitched = wasTouched(base, instance, to, dead);
    if (wasSwitched === undefined) continue;
    const move = { instance, from: dead, to, wasSwitched };
    const failure = await failureOf('start', () => restoreOne(base, instance, to, dead));
    moves.push({ ...move, problem: failure && redact(failure.message) });
  }
  for (const instance of names) await stopUnused(base, instance);
  return moves;
}

/** Stops what a killed operation had started in a slot that never got a request. */
async function stopUnused(base: TargetBase, instance: string): Promise<void> {
  const { slots, draining } = instanceState(base, instance);
  const live = liveSlot(base.paths.app(base.app).instance(instance));
  const unused = SLOTS.filter((slot) => slot !== live && slot !== draining?.slot && slots?.[slot]);
  for (const slot of unused) {
    const failure = await failureOf('start', () => stopSlot(base, instance, slot));
    if (failure) base.say(failure.message);
  }
}

/** Whether its link was switched, or it had at most been stopped; undefined if it needs nothing. */
function wasTouched(
  base: TargetBase,
  instance: string,
  to: Deployed | null,
  { touched, failed }: Deploying,
): boolean | undefined {
  const isRight = activeRelease(base.paths, base.app, instance) === to?.release;
  const isTouched = Array.isArray(touched) && touched.includes(instance);
  if (isRight && !isTouched) return undefined;
  if (!isRight || failed !== undefined) return true;
  return !to || isRunning(base, instance, to) ? undefined : false;
}

async function restoreOne(
  base: TargetBase,
  instance: string,
  to: Deployed | null,
  { version, commit }: Deploying,
): Promise<void> {
  const appPaths = base.paths.app(base.app);
  const active = activeRelease(base.paths, base.app, instance);
  const running =
    active === undefined || active === to?.release
      ? undefined
      : keptTarget(base, instance, { release: active, version, commit });
  if (!to && !running)
    await endInstance({
      app: base.app,
      instance: { name: instance },
      slot: undefined,
      paths: appPaths.instance(instance),
    });
  await switchBack(base, instance, running, to);
}

function isRunning(base: TargetBase, name: string, current: Deployed): boolean {
  const target = keptTarget(base, name, current);
  return target !== undefined && askNow(driverFor(target.start).status(target)) === 'running';
}
