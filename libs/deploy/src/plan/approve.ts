/** Approving a plan: whose word counts, and what follows from the last one that was needed. */
import { type Approval, approvalSigner, countingOf } from '@runner/common/apps/approvals';
import {
  changePlan,
  isApproved,
  isOpen,
  problemWords,
  readPlan,
  type StoredPlan,
  waitsWords,
} from '@runner/common/apps/plans';
import { findApp, requireApp } from '@runner/common/apps/store';
import { approvalRuleOf } from '@runner/common/config/approval';
import { readConfig } from '@runner/common/config/file';
import { deployPolicyOf } from '@runner/common/config/settings';
import { opensAt, untilWords } from '@runner/common/config/windows';
import { Failure } from '@runner/common/foundation/failure';
import type { Server } from '@runner/common/foundation/paths';
import { loginName } from '@runner/common/foundation/user';
import { redactorForAny } from '@runner/common/redaction/redact';
import type { Redactor } from '@runner/common/secrets/redactor';
import { SSH_ARMOUR } from '@runner/common/signed/sshsig';
import { announcerOf } from '../alerts/announce.ts';
import { changedPlan, endWords } from '../approval/admit.ts';
import { changesSince } from '../approval/facts.ts';
import type { Reporter } from '../report/reporter.ts';
import { startInBackground } from '../run/background.ts';
import { readSigners } from '../signed/signers.ts';
import { barredWords } from './authors.ts';

/** Whose approval of which plan. */
export interface ApproveRequest extends Server, Pick<Approval, 'by' | 'how'> {
  readonly id: string;
  readonly key?: string | undefined;
  readonly signature?: string | undefined;
  readonly reason?: string | undefined;
  /** false: leave it to `runner apply`. */
  readonly applies: boolean;
  readonly reporter: Pick<Reporter, 'note' | 'recorded'>;
}

/** What `runner approve` prints. */
export interface ApprovedPlan {
  plan: string;
  app: string;
  approved_by: string[];
  missing: number;
  /** Whether `runner apply` was started. */
  applying: boolean;
  /** What it waits for, in words; null: nothing. */
  waits: string | null;
}

/** Who signed the text of the plan. Throws `approval_refused`, `signers_invalid`. */
export function signedApproval(
  { paths }: Pick<Server, 'paths'>,
  id: string,
  signature: string,
): Pick<ApproveRequest, 'by' | 'key' | 'signature' | 'how'> {
  const { text, plan } = readPlan(paths, id);
  const given = `${signature.trim()}\n`;
  const isSsh = given.startsWith(SSH_ARMOUR);
  // What is wrong with the files is said as such.
  if (isSsh) readSigners(paths, 'approvers');
  const found = isSsh
    ? approvalSigner(paths, text, given)
    : { why: 'needs what ssh-keygen -Y sign prints' };
  if ('why' in found) throw new Failure('approval_refused', `the approval ${found.why}`);
  const { principal, key } = found;
  // Names of one person: the first that is asked for counts.
  const names = principal.split(',');
  const by = names.find((name) => plan.needs.by.includes(name)) ?? principal;
  return { by, key, signature: given, how: 'signature' };
}

/** Records an approval, and starts `runner apply` with the last one. Throws `approval_refused`, `plan_ended`. */
export async function approve(request: ApproveRequest): Promise<ApprovedPlan> {
  const { io, paths, id, by, how, key, signature, reason, reporter } = request;
  const announcer = announcerOf({ io, paths, reporter, notify: true });
  const redact = await redactorForAny({ paths, env: io.env }, readPlan(paths, id).plan.app);
  const stored = changePlan(request, id, (now) => {
    requireWord({ ...request, redact }, now);
    const approval = {
      by,
      at: io.now().toISOString(),
      how,
      ...(key && { key }),
      ...(signature && { signature }),
      ...(reason && { reason }),
      ...(!request.applies && { leaves: true as const }),
    };
    const approvals = [...countingOf(now.approvals), approval];
    const { plan } = now;
    const count = `${approvals.length} of ${plan.needs.count}`;
    const more = reason ? `: ${reason}` : '';
    // Nothing is approved that is not recorded.
    announcer.announce({
      app: requireApp(paths, plan.app),
      change: {
        event_type: 'PlanApproved',
        version: plan.version,
        plan: id,
        user: by,
        approved_by: approvals.map((each) => each.by),
        reason: `${by} approved ${plan.verb} of ${plan.version}, ${count}${more}`,
      },
    });
    return { ...now, approvals };
  });
  const { app, by: maker, needs } = stored.plan;
  const opens =
    maker === 'fetch' && request.applies
      ? opensAt(deployPolicyOf(readConfig(paths)).windows, app, io.now())
      : undefined;
  const isReady = isApproved(stored);
  const args = [id, '--announce'];
  const applying =
    isReady && request.applies && !opens && startInBackground(request, 'runner-apply', args);
  await announcer.finish();
  const ends = stored.plan.expires <= (opens?.at?.toISOString() ?? '9');
  const before = ends ? `, but ends before: runner apply ${id} deploys it now` : '';
  const waits = !isReady
    ? waitsWords(stored)
    : opens
      ? `waits ${untilWords(opens)}${before}`
      : null;
  const approved_by = stored.approvals.map((each) => each.by);
  const missing = Math.max(0, needs.count - approved_by.length);
  return { plan: id, app, approved_by, missing, applying, waits };
}

/** Throws `approval_refused`, `plan_changed`, `plan_ended`. */
function requireWord(
  { io, paths, by, how, redact }: ApproveRequest & { readonly redact: Redactor },
  stored: StoredPlan,
): void {
  const { plan } = stored;
  const approvals = countingOf(stored.approvals);
  const { needs, id } = plan;
  const refuse = (why: string) => new Failure('approval_refused', `${by} ${why}`);
  if (io.env.RUNNER_GRANT !== undefined && how === 'user')
    throw refuse('cannot approve: a grant has no word of its own');
  if (!findApp(paths, plan.app) || !isOpen(stored, io.now()))
    throw new Failure('plan_ended', endWords(stored));
  const problem = problemWords(stored);
  if (problem) throw new Failure('approval_refused', `${id} ${problem}`);
  const changed = changesSince({ io, paths }, requireApp(paths, plan.app), plan);
  if (changed.length > 0) throw changedPlan(plan, changed.map(redact));
  if (isApproved(stored)) throw refuse(`need not approve ${id}: it has all the approvals it needs`);
  const isAccount = how !== 'user' || (by === loginName(io) && io.uid !== 0);
  if (needs.by.length === 0 && isAccount)
    throw refuse(`may not approve ${id}: list who may in require_approval of config.yml`);
  if (needs.by.length > 0 && !needs.by.includes(by))
    throw refuse(`may not approve ${id}: config.yml lists ${needs.by.join(', ')}`);
  if (approvals.some((each) => each.by === by)) throw refuse(`has approved ${id} already`);
  if (!needs.not_author) return;
  const rule = approvalRuleOf(readConfig(paths), plan.app).by.find(({ user }) => user === by);
  const barred = barredWords(io.env, plan, rule ?? { user: by, emails: [] });
  if (barred !== undefined) throw refuse(barred);
}
