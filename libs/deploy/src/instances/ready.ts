/** Whether an instance can be started at all, asked before anything is touched. */

import { listApps } from '@runner/common/apps/store';
import type { Instance } from '@runner/common/deploy-file/instance';
import type { Start } from '@runner/common/deploy-file/start';
import type { Operation } from '../journal/operation.ts';
import { StepFailure } from '../run/step.ts';
import { obstacles } from './drivers/availability.ts';
import { driverFor } from './drivers/choose.ts';
import type { Target } from './drivers/driver.ts';
import { unitsOf } from './drivers/unit-state.ts';
import { isRefused, unlistedUnits, unlistedWords } from './drivers/units.ts';
import { fileOfRelease } from './kept-file.ts';

/** Throws a StepFailure of stage `start`. */
export function checkReady(op: Operation, target: Target): void {
  const { start, instance } = target;
  const [obstacle] = obstacles(op.app.app, { start, instances: [instance] }, op.io.env);
  if (obstacle) throw new StepFailure('start', obstacle.words, { blame: obstacle.blame });
  // Only if systemd refuses as well: another polkit rule may allow it.
  const [unlisted] = unlistedUnits({ start, instances: [instance] });
  if (unlisted !== undefined && isRefused(unlisted, target.outerEnv))
    throw new StepFailure('start', `start: ${unlistedWords(unlisted)}`, { blame: 'server' });
  const owner = start.type === 'systemd' ? ownerOfUnit(op, start, instance) : undefined;
  if (owner !== undefined) {
    const words = `the unit ${owner}: give this app its own unit`;
    throw new StepFailure('start', `start: ${words}`);
  }
  driverFor(start).prepare?.(target);
}

/** The active instance of another app that has this unit, in words. */
function ownerOfUnit(
  { paths, app }: Operation,
  start: Extract<Start, { type: 'systemd' }>,
  instance: Instance,
): string | undefined {
  const units = unitsOf(start.unit, instance);
  for (const other of listApps(paths).apps) {
    if (other.app === app.app) continue;
    for (const [name, { current }] of Object.entries(other.instances)) {
      const file = current && fileOfRelease(paths, other.app, current);
      if (file?.start.type !== 'systemd' || file.start.user !== start.user) continue;
      const owner = file.instances.find((each) => each.name === name) ?? { name };
      const shared = unitsOf(file.start.unit, owner).find((unit) => units.includes(unit));
      if (shared !== undefined) return `${shared} is the one of ${name} of ${other.app}`;
    }
  }
  return undefined;
}
