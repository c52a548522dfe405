/** Whether an instance can be started at all, asked before anything is touched. */

import { listApps } from '@runner/common/apps/store';
import type { Start } from '@runner/common/deploy-file/read';
import type { Job } from '../record/operation.ts';
import { StepFailure } from '../run/step.ts';
import { obstacles } from './drivers/availability.ts';
import { driverFor } from './drivers/choose.ts';
import { unitOf } from './drivers/systemd.ts';
import { isRefused, unlistedUnits, unlistedWords } from './drivers/units.ts';
import { fileOfRelease } from './kept-file.ts';
import type { ReleaseTarget } from './target.ts';

/** Throws a StepFailure of stage `start`. */
export function checkReady(job: Job, target: ReleaseTarget): void {
  const { start, instance } = target;
  const [obstacle] = obstacles({ start, instances: [instance] }, job.io.env);
  if (obstacle) throw new StepFailure('start', obstacle.words, '', obstacle.blame);
  // Only if systemd refuses as well: another polkit rule may allow it.
  const [unlisted] = unlistedUnits({ start, instances: [instance] });
  if (unlisted !== undefined && isRefused(unlisted, target.outerEnv))
    throw new StepFailure('start', `start: ${unlistedWords(unlisted)}`, '', 'server');
  const owner = start.type === 'systemd' ? ownerOfUnit(job, start, instance.name) : undefined;
  if (owner !== undefined) {
    const words = `the unit ${owner}: give this app a unit of its own`;
    throw new StepFailure('start', `start: ${words}`, '');
  }
  driverFor(start).prepare?.(target);
}

/** The active instance of another app that has this unit, in words. */
function ownerOfUnit(
  { paths, app }: Job,
  start: Extract<Start, { type: 'systemd' }>,
  instance: string,
): string | undefined {
  const unit = unitOf(start.unit, instance);
  for (const other of listApps(paths).apps) {
    if (other.app === app.app) continue;
    for (const [name, { current }] of Object.entries(other.instances)) {
      const theirs = current && fileOfRelease(paths, other.app, current)?.start;
      if (theirs?.type !== 'systemd' || theirs.user !== start.user) continue;
      if (unitOf(theirs.unit, name) === unit)
        return `${unit} is the one of ${name} of ${other.app}`;
    }
  }
  return undefined;
}
