/** Whether a command may go on: it needs no approval, its plan has all, or root says why not. */
import { countingOf, lapsedWords } from '@runner/common/apps/approvals';
import {
  approveWords,
  type CommandPlan,
  canBeApproved,
  changePlan,
  isOpen,
  problemWords,
  readPlan,
  type StoredPlan,
} from '@runner/common/apps/plans';
import type { AppState } from '@runner/common/apps/state';
import { approvalRuleOf } from '@runner/common/config/approval';
import { readConfig } from '@runner/common/config/file';
import { isRoots } from '@runner/common/files/person';
import { unlessFailure } from '@runner/common/foundation/attempt';
import { Failure, invalidValue } from '@runner/common/foundation/failure';
import type { Paths, Server } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import type { Operation } from '../journal/operation.ts';
import { changedFacts, factsOf } from './facts.ts';
import { grantChange, isOfGrant, leastApprovals, readGrant } from './grants.ts';
import type { ApprovalChoice } from './options.ts';

type Admitting = Server & Pick<Operation, 'redact'>;

/** What a command does, beside the app: it must be what the plan says. */
export interface AdmittedCommand extends Pick<CommandPlan, 'verb'>, ApprovalChoice {
  readonly ref?: string | undefined;
  readonly to?: string | undefined;
  readonly instance?: string | undefined;
  readonly database?: string | undefined;
  readonly acceptSchema?: string | undefined;
  readonly migrated?: NonNullable<CommandPlan['migrated']> | undefined;
  readonly acceptRewrite?: boolean | undefined;
  readonly goals?: CommandPlan['facts'];
}

/**
 * The plan that is to be applied, under the app's lock; undefined if no approval is needed. Throws
 * `approval_required`, `plan_changed`, `plan_ended`, `plan_not_found`.
 */
export function admit(
  server: Admitting,
  app: AppState,
  command: AdmittedCommand,
): StoredPlan | undefined {
  const { io, paths } = server;
  const { verb, plan: id, emergency } = command;
  if (id !== undefined) return ready(server, app, command, readPlan(paths, id));
  const grant = io.env.RUNNER_GRANT;
  if (emergency !== undefined) {
    if (emergency.trim() === '') throw invalidValue('', '--emergency <REASON>', 'say why');
    if (isRoots(io) && grant === undefined) return undefined;
    throw new Failure('approval_required', '--emergency is for root alone: run it with sudo');
  }
  const count = approvalRuleOf(readConfig(paths), app.app).counts[verb] ?? 0;
  if (count === 0 && grant === undefined) return undefined;
  const { migrated, acceptRewrite } = command;
  const more = `${migrated ? ` --migrated ${migrated}` : ''}${acceptRewrite ? ' --accept-rewrite' : ''}`;
  const name = `${word(app.app)}${more}`;
  const need =
    grant === undefined
      ? `needs ${count === 1 ? 'an approval' : `${count} approvals`}`
      : 'by a grant needs a plan';
  throw new Failure(
    'approval_required',
    `${verb} of '${app.app}' ${need}: run runner plan ${verb} ${name}, then someone else runs runner approve p-…`,
  );
}

/** Throws `plan_changed` with every fact that is another one now, `plan_ended`, `approval_required`. */
function ready(
  server: Admitting,
  app: AppState,
  command: AdmittedCommand,
  stored: StoredPlan,
): StoredPlan {
  const { plan, approvals } = stored;
  const isOther = [
    plan.app !== app.app || plan.verb !== command.verb,
    command.verb === 'deploy' && plan.commit !== command.ref,
    (plan.to ?? undefined) !== command.to,
    (plan.instance ?? undefined) !== command.instance,
    (plan.database ?? undefined) !== command.database,
    (plan.accept_schema ?? undefined) !== command.acceptSchema,
    (plan.migrated ?? undefined) !== command.migrated,
    (plan.accept_rewrite ?? false) !== (command.acceptRewrite ?? false),
  ].some(Boolean);
  if (isOther)
    throw new Failure(
      'plan_changed',
      `${plan.id} is a plan of another command: runner plan show ${plan.id}`,
    );
  if (!isOpen(stored, server.io.now())) throw new Failure('plan_ended', endWords(stored));
  const problem = problemWords(stored);
  if (problem) throw new Failure('plan_changed', `${plan.id} ${problem}`);
  const { grant } = plan;
  const own = server.io.env.RUNNER_GRANT;
  if (own !== undefined && !isOfGrant(readGrant(server.io.env, own), plan))
    throw new Failure('approval_required', `${plan.id} was not made by the grant ${own}`);
  const facts = { ...factsOf(server, app, plan.verb), ...command.goals };
  const ended = grantChange(server.io.env, plan);
  const changed = [...ended, ...changedFacts(plan.facts, facts)].map(server.redact);
  if (changed.length > 0) throw changedPlan(plan, changed);
  // A grant may have lost its level since: then someone has to approve what it planned.
  const least = grant === null ? 0 : leastApprovals(readGrant(server.io.env, grant), plan.verb);
  const needed = Math.max(plan.needs.count, least);
  const has = countingOf(approvals).length;
  const lapsed = lapsedWords(approvals).map((each) => `; ${each}`);
  if (has < needed)
    throw new Failure(
      'approval_required',
      `${plan.id} has ${has} of ${needed} approvals: ${canBeApproved(stored) ? 'run ' : ''}${approveWords(stored)}${lapsed.join('')}`,
    );
  return stored;
}

/** One sentence for each change; `changed` lists them. */
export function changedPlan({ id, app, verb }: CommandPlan, changed: readonly string[]): Failure {
  const again = `run runner plan ${verb} ${word(app)}`;
  return new Failure('plan_changed', `${id} no longer applies: ${changed.join('; ')}; ${again}`, {
    plan: id,
    changed,
  });
}

/** Why a plan cannot be approved or applied any more. */
export function endWords({ plan, applied, ended }: StoredPlan): string {
  const { id, expires } = plan;
  if (ended?.how === 'done') return `${id} was applied: ${ended.why}`;
  if (ended?.how === 'failed') return `${id} was applied and failed: ${ended.why}`;
  if (applied)
    return `${id} was applied by ${applied.by} as ${applied.deploy_id} at ${applied.at}; see: runner plan show ${id}`;
  return `${id} ${ended?.why ?? `expired at ${expires}`}: run runner plan ${plan.verb} ${word(plan.app)}`;
}

/** From here on the plan is used up, whatever becomes of the command. Throws `plan_ended`. */
export function begin(
  op: Operation,
  stored: StoredPlan | undefined,
  { emergency }: ApprovalChoice,
): void {
  const { io, deployId: deploy_id, user: by } = op;
  if (emergency !== undefined) op.approval = { emergency: op.redact(emergency) };
  if (!stored) return;
  const { approvals } = changePlan(op, stored.plan.id, (now) => {
    if (!isOpen(now, io.now())) throw new Failure('plan_ended', endWords(now));
    return { ...now, applied: { at: io.now().toISOString(), deploy_id, by } };
  });
  op.approval = approvalFields({ ...stored, approvals });
}

/** Begins a command; one that could not begin leaves its plan to be applied again. */
export function orGiveBack<T>(op: Operation, start: () => T): T {
  try {
    return start();
  } catch (error) {
    const id = op.approval?.plan;
    if (id !== undefined) changePlan(op, id, (now) => ({ ...now, applied: null }));
    throw error;
  }
}

/** What the records say of a plan that is applied. */
export function approvalFields({ plan, approvals }: StoredPlan): Operation['approval'] {
  const approved_by = countingOf(approvals).map(({ by }) => by);
  return { plan: plan.id, ...(approved_by.length > 0 && { approved_by }) };
}

/** The same with its version, for a deploy that did not come to its commit; empty without a plan. */
export function planFields(
  paths: Paths,
  id: string | undefined,
): Partial<Pick<CommandPlan, 'version'>> & Operation['approval'] {
  const stored = id === undefined ? undefined : unlessFailure(() => readPlan(paths, id), undefined);
  return stored ? { version: stored.plan.version, ...approvalFields(stored) } : {};
}

/** Writes what applying it did. A kill before leaves the answer to the records. */
export function end(op: Operation, isGood: boolean, why: string): void {
  const id = op.approval?.plan;
  const [at, how] = [op.io.now().toISOString(), isGood ? ('done' as const) : ('failed' as const)];
  const ended = { at, how, why: op.redact(why) };
  if (id !== undefined)
    unlessFailure(() => changePlan(op, id, (now) => ({ ...now, ended })), undefined);
}
