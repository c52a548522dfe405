/** Whether an instance can be started at all, asked before anything is touched. */
import type { Operation } from '../journal/operation.ts';
import { StepFailure } from '../run/step.ts';
import { obstacles, refusedUnits } from './drivers/availability.ts';
import { driverFor } from './drivers/choose.ts';
import type { Target } from './drivers/driver.ts';
import { unitOfAnother } from './neighbours.ts';

/** Throws a StepFailure of stage `start`. */
export function checkReady(op: Operation, target: Target): void {
  const { start } = target;
  const own = { start, instances: [target.instance] };
  const [obstacle] = obstacles(op.app.app, own, op.io.env);
  if (obstacle) throw new StepFailure('start', obstacle.words, { blame: obstacle.blame });
  const [refused] = refusedUnits(own, target.outerEnv);
  if (refused !== undefined) throw new StepFailure('start', refused, { blame: 'server' });
  const shared = unitOfAnother(op.paths, op.app.app, own);
  if (shared !== undefined) throw new StepFailure('start', shared);
  driverFor(start).prepare?.(target);
}
