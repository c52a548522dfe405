/** Whether an instance can be started at all, asked before anything is touched. */
import type { Operation } from '../journal/operation.ts';
import { StepFailure } from '../run/step.ts';
import { obstacles } from './drivers/availability.ts';
import { driverFor } from './drivers/choose.ts';
import type { Target } from './drivers/driver.ts';
import { isRefused, unlistedUnits, unlistedWords } from './drivers/units.ts';
import { unitOfAnother } from './neighbours.ts';

/** Throws a StepFailure of stage `start`. */
export function checkReady(op: Operation, target: Target): void {
  const { start, instance } = target;
  const [obstacle] = obstacles(op.app.app, { start, instances: [instance] }, op.io.env);
  if (obstacle) throw new StepFailure('start', obstacle.words, { blame: obstacle.blame });
  // Only if systemd refuses as well: another polkit rule may allow it.
  const [unlisted] = unlistedUnits({ start, instances: [instance] });
  if (unlisted !== undefined && isRefused(unlisted, target.outerEnv))
    throw new StepFailure('start', `start: ${unlistedWords(unlisted)}`, { blame: 'server' });
  const shared = unitOfAnother(op.paths, op.app.app, { start, instances: [instance] });
  if (shared !== undefined) throw new StepFailure('start', shared);
  driverFor(start).prepare?.(target);
}
