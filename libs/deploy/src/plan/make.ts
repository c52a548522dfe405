/** Making a plan: what a command would do, bound to how things are while the app's lock is held. */
import { hostname } from 'node:os';
import { prunePlans } from '@runner/common/apps/old-plans';
import { type CommandPlan, createPlan, type StoredPlan } from '@runner/common/apps/plans';
import { requireApp } from '@runner/common/apps/store';
import { newDeployId } from '@runner/common/audit/events';
import { approvalRuleOf } from '@runner/common/config/approval';
import { readConfig } from '@runner/common/config/file';
import { cleanRecord } from '@runner/common/redaction/record';
import { redactorForAny } from '@runner/common/redaction/redact';
import { factsOf, hideIn } from '../approval/facts.ts';
import { underLock } from '../journal/lock.ts';
import { authorPrints, barredWords } from './authors.ts';
import { requireContract } from './contract.ts';
import { PLANNERS, type PlanRequest } from './planners.ts';

/** Makes a plan and stores it. Throws what its command would throw before it begins. */
export async function makePlan(request: PlanRequest): Promise<StoredPlan> {
  // Nothing is locked where nothing is due.
  if (request.verb === 'contract')
    requireContract(request.paths, requireApp(request.paths, request.app));
  return underLock(request, 'plan', () => makeUnderLock(request));
}

/** The same under a lock that is held. */
export async function makeUnderLock(request: PlanRequest): Promise<StoredPlan> {
  const { io, paths, verb, ref = null, to = null, instance = null, reason = null } = request;
  const { database = null, acceptSchema: accept_schema = null } = request;
  const { migrated = null, acceptRewrite: accept_rewrite = false } = request;
  const { by, grant = null, length, least = 0 } = request;
  const app = requireApp(paths, request.app);
  const rule = approvalRuleOf(readConfig(paths), app.app);
  const planned = await PLANNERS[verb](request, app);
  const made = io.now();
  const contract = planned.summary.contract ? (rule.counts.contract ?? 0) : 0;
  const id = `p-${newDeployId(io.random)}`;
  const redact = await redactorForAny({ paths, env: io.env }, app.app);
  const plan: CommandPlan = {
    id,
    server: hostname(),
    app: app.app,
    verb,
    ref,
    to,
    instance,
    reason,
    database,
    accept_schema,
    migrated,
    accept_rewrite,
    by,
    grant,
    made: made.toISOString(),
    expires: new Date(made.getTime() + length).toISOString(),
    needs: {
      count: Math.max(rule.counts[verb] ?? 0, contract, least),
      by: rule.by.map(({ user }) => user),
      not_author: rule.notAuthor,
    },
    ...planned,
    authors: authorPrints(id, planned.authors),
    facts: {},
  };
  if (rule.notAuthor)
    plan.needs.barred = rule.by.flatMap((each) =>
      barredWords(io.env, plan, each) === undefined ? [] : [each.user],
    );
  const facts = { ...factsOf({ io, paths }, app, verb), ...planned.facts };
  const clean = cleanRecord({ ...plan }, redact) as unknown as CommandPlan;
  prunePlans({ io, paths });
  return createPlan(
    { io, paths },
    { ...clean, authors: plan.authors, facts: hideIn(facts, redact) },
  );
}
