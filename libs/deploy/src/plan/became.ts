/** What became of a plan that was applied, also where a kill left no end in it. */
import { readPlan, type StoredPlan } from '@runner/common/apps/plans';
import { findApp } from '@runner/common/apps/store';
import { liveHolder } from '@runner/common/files/lock';
import type { Paths } from '@runner/common/foundation/paths';
import { recordedEnd } from '../journal/given-id.ts';

/** A plan with how it ended and, if it has not, in words how it stands: null otherwise. */
export function becameOf(
  paths: Paths,
  stored: StoredPlan,
): { readonly stored: StoredPlan; readonly stands: string | null } {
  const { plan, applied, ended } = stored;
  if (!applied || ended) return { stored, stands: null };
  const { app, verb, version } = plan;
  const { deploy_id: id, at } = applied;
  if (liveHolder(paths.lock(app))?.deploy_id === id) return { stored, stands: 'it runs' };
  if (findApp(paths, app)?.deploying?.deploy_id === id)
    return { stored, stands: 'it was killed: the next command of the app cleans up' };
  // It may have ended since it was read.
  const now = readPlan(paths, plan.id);
  if (now.ended) return { stored: now, stands: null };
  const as = (how: 'done' | 'failed', why: string) => {
    return { stored: { ...stored, ended: { at, how, why } }, stands: null };
  };
  if (verb !== 'deploy' && verb !== 'rollback') return as('failed', 'it was interrupted');
  const kind = verb === 'deploy' ? 'DeploySuccess' : 'RollbackSuccess';
  const end = recordedEnd(paths, app, id, kind);
  if (!end) return as('failed', 'it was killed before anything was changed');
  if (end.isSuccess) return as('done', `${version} is active`);
  return as('failed', `the ${verb} of ${version} failed: ${end.error.split('\n')[0]}`);
}
