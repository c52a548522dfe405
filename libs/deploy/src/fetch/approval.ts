/** Whether the approvals that a commit needs let `fetch --deploy` deploy it. */
import type { AppState } from '@runner/common/apps/state';
import { approvalFor } from '../plan/wanted.ts';
import type { FetchResult } from './decide.ts';
import type { FetchRequest } from './request.ts';

/** A decision to deploy a commit becomes `approval` until its plan has them; `locked` runs under the app's lock. */
export async function afterApproval(
  request: FetchRequest,
  app: AppState,
  decided: FetchResult,
  locked: <T>(work: () => Promise<T>) => Promise<T>,
): Promise<FetchResult> {
  const { commit, version, result } = decided;
  if (result !== 'new_commit' || commit === null || app.deploying || !request.deploy)
    return decided;
  const found = await approvalFor({ ...request, by: 'fetch', verb: 'deploy', app, commit, locked });
  if (!found) return decided;
  if ('plan' in found) return { ...decided, plan: found.plan };
  return { ...decided, result: 'approval', text: `${version} ${found.waits}` };
}
