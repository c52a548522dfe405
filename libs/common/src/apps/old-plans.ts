/** Removing plans that no one needs any more. */
import { namesIn, removeIfThere } from '../files/read.ts';
import { sweepStrays } from '../files/write.ts';
import type { Server } from '../foundation/paths.ts';
import { listPlans, underPlansLock } from './plans.ts';

/** How long one that ended is kept, in ms. */
const KEPT = 7 * 86_400_000;

/**
 * Removes the plans of an app that is no longer there, or those that ended a week ago, but the newest of each
 * maker: `fetch` plans a commit once.
 */
export function prunePlans(server: Server, app?: string): void {
  const { paths, io } = server;
  if (namesIn(paths.plansDir).length === 0) return;
  const before = new Date(io.now().getTime() - KEPT).toISOString();
  underPlansLock(server, () => {
    sweepStrays(paths.plansDir, io.now());
    const all = listPlans(paths, app);
    const newest = new Map(all.map(({ plan }) => [`${plan.app} ${plan.verb} ${plan.by}`, plan]));
    const kept = new Set(app === undefined ? newest.values() : []);
    for (const { plan, applied, ended } of all)
      if (
        !kept.has(plan) &&
        (app !== undefined || (ended?.at ?? applied?.at ?? plan.expires) < before)
      )
        removeIfThere(paths.plan(plan.id));
  });
}
