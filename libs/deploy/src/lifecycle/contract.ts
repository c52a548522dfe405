/** `runner contract`: what only older versions needed is removed from the database now. */
import { requireApp } from '@runner/common/apps/store';
import { admit, begin, end } from '../approval/admit.ts';
import { dueContract, runContract } from '../database/contract.ts';
import { type OperationRequest, operate } from '../operation/operate.ts';
import { asStepFailure } from '../run/step.ts';

/** What `runner contract` prints. */
export interface ContractOutcome {
  app: string;
  result: 'contracted' | 'unchanged' | 'failed';
  /** Whose contract it was; null: none is due. */
  version: string | null;
  /** The line that restores what was before, if there is a backup. */
  restore: string | null;
  error: string | null;
}

/** Throws `app_not_found`, `locked`, `approval_required`, `plan_changed`. */
export async function contractNow(
  request: Omit<OperationRequest, 'trigger' | 'notify'>,
): Promise<ContractOutcome> {
  const known = requireApp(request.paths, request.app);
  const first = dueContract(request.paths, known);
  if ('why' in first && !known.migrating && !known.deploying && request.plan === undefined)
    return { ...outcomeOf(known.app), result: 'unchanged', error: first.why };
  const own = { ...request, trigger: 'manual', notify: true };
  return operate(own, 'contract', {}, async (op): Promise<ContractOutcome> => {
    const { app, paths, redact } = op;
    const due = dueContract(paths, app);
    const isAsked = request.plan !== undefined || !('why' in due);
    const plan = isAsked ? admit(op, app, { ...request, verb: 'contract' }) : undefined;
    const nothing = outcomeOf(app.app);
    if ('why' in due) {
      const result = app.migrating ? 'failed' : 'unchanged';
      return { ...nothing, result, error: redact(due.why) };
    }
    begin(op, plan, request);
    const { version } = due.of;
    try {
      const restore = (await runContract(op, due)) ?? null;
      const back = restore === null ? '' : `; to restore what was before it: ${restore}`;
      end(op, true, `the contract of ${version} has run${back}`);
      return { ...nothing, result: 'contracted', version, restore };
    } catch (error) {
      const { message, output } = asStepFailure(error, 'migrate');
      const text = redact([message, output.trimEnd()].filter(Boolean).join('\n'));
      end(op, false, message);
      return { ...nothing, result: 'failed', version, error: text };
    }
  });
}

const outcomeOf = (app: string) => ({ app, version: null, restore: null, error: null });
