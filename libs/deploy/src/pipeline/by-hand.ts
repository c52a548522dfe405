/** A deploy that an operator, a script or an order asks for: `fetch --deploy` records what it cannot fetch itself. */
import { namesIn } from '@runner/common/files/read';
import { unlessFailure } from '@runner/common/foundation/attempt';
import { Failure, type FailureCode, systemFailure } from '@runner/common/foundation/failure';
import { announceUnfetched } from '../alerts/unfetched.ts';
import { planFields } from '../approval/admit.ts';
import type { DeployRequest } from './begin.ts';
import { deploy } from './deploy.ts';
import type { DeployOutcome } from './outcome.ts';

/** Refused rather than failed: mistyped, ended by the caller, to be tried again, or not to be recorded. */
const REFUSALS: ReadonlySet<FailureCode> = new Set([
  'app_not_found',
  'approval_required',
  'audit_busy',
  'audit_unwritable',
  'branch_not_found',
  'guard_tripped',
  'instance_not_found',
  'interrupted',
  'lock_unavailable',
  'locked',
  'name_invalid',
  'not_ready',
  'plan_changed',
  'plan_ended',
  'plan_invalid',
  'plan_not_found',
  'ref_ambiguous',
  'ref_not_found',
  'tag_not_found',
  'usage',
]);

/** Deploys an app as `deploy` does; a deploy that could not fetch its commit is recorded and announced. */
export async function deployByHand(request: DeployRequest): Promise<DeployOutcome> {
  try {
    return await deploy(request);
  } catch (error) {
    const failure = systemFailure(error, 'fetch the commit');
    // Who may not read the states can record nothing.
    const mayRecord = unlessFailure(() => namesIn(request.paths.stateDir) !== undefined, false);
    if (failure instanceof Failure && mayRecord && !REFUSALS.has(failure.code))
      await announceUnfetched(
        { ...request, about: planFields(request.paths, request.plan) },
        failure,
      );
    throw error;
  }
}
