/** Whether what is to be done without an operator here has its approvals: it gets a plan once. */
import { leftQuestion } from '@runner/common/apps/plan-words';
import {
  type CommandPlan,
  changePlan,
  isApproved,
  isOpen,
  listPlans,
  problemWords,
  type StoredPlan,
  waitsWords,
} from '@runner/common/apps/plans';
import type { AppState } from '@runner/common/apps/state';
import { findApp } from '@runner/common/apps/store';
import { waitingLines } from '@runner/common/audit/kept';
import { kindOf, type LogRecord, readRecord } from '@runner/common/audit/record';
import { recordsSince } from '@runner/common/audit/scan';
import { approvalRuleOf } from '@runner/common/config/approval';
import { readConfig } from '@runner/common/config/file';
import { failureIn, unlessFailure } from '@runner/common/foundation/attempt';
import type { Server } from '@runner/common/foundation/paths';
import { type Announcing, announcerOf } from '../alerts/announce.ts';
import { endWords } from '../approval/admit.ts';
import { changedFacts, factsOf } from '../approval/facts.ts';
import { withoutSteps } from '../report/reporter.ts';
import { goalsOf, planRollback } from '../rollback/plan.ts';
import { announceWanted, wantedChange } from './announce.ts';
import { makeUnderLock } from './make.ts';
import type { PlanRequest } from './planners.ts';

const DAY = 86_400_000;

/** A deploy of a commit or a rollback, who wants it, and what runs with the app's lock. */
export interface WantedCommand
  extends Announcing,
    Pick<PlanRequest, 'signal' | 'by' | 'to' | 'acceptSchema'> {
  readonly app: AppState;
  readonly verb: 'deploy' | 'rollback';
  /** Of a deploy. */
  readonly commit?: string;
  /** Makes no plan, and looks at those of anyone. */
  readonly onlyLooks?: boolean;
  locked<T>(work: () => Promise<T>): Promise<T>;
}

/** The id of its approved plan, or what it waits for, in words; undefined: it needs no approval. */
export async function approvalFor(
  wanted: WantedCommand,
): Promise<{ readonly plan: string } | { readonly waits: string } | undefined> {
  const { io, paths, app, verb, commit, to } = wanted;
  if (!approvalRuleOf(readConfig(paths), app.app).counts[verb]) return undefined;
  const known = listPlans(paths, app.app).filter(
    ({ plan }) => plan.verb === verb && !plan.instance,
  );
  const target = { to, instance: undefined };
  const goals =
    verb === 'rollback'
      ? unlessFailure(() => goalsOf(planRollback(paths, app, target)), undefined)
      : {};
  // The command itself says why it cannot roll back.
  if (!goals) return undefined;
  const facts = { ...factsOf({ io, paths }, app, verb), ...goals };
  const isStill = ({ plan }: StoredPlan) =>
    (verb === 'rollback' ? plan.to === (to ?? null) : plan.commit === commit) &&
    !plan.database &&
    (plan.accept_schema ?? undefined) === wanted.acceptSchema &&
    changedFacts(plan.facts, facts).length === 0;
  const unused = known.filter((each) => !each.applied && isStill(each));
  const open = unused.filter((each) => isOpen(each, io.now()));
  const approved = open.filter(isApproved);
  // The plan of a person is that person's to apply, and what an approver leaves is left.
  const isLeft = ({ plan, approvals }: StoredPlan) =>
    plan.migrated ||
    plan.accept_rewrite ||
    (wanted.by === 'fetch' && (plan.by !== 'fetch' || approvals.at(-1)?.leaves === true));
  const due = approved.find((each) => !isLeft(each));
  if (due) return { plan: due.plan.id };
  const [ready] = approved;
  if (ready) return { waits: waitsWords(ready) };
  const own = ({ plan }: StoredPlan) => wanted.onlyLooks || plan.by === wanted.by;
  const useful = open.filter((each) => !problemWords(each));
  const question = verb === 'deploy' && !app.migrating?.asks ? leftQuestion(paths, app) : undefined;
  const asked = useful.findLast(own) ?? useful.at(-1) ?? (question ? undefined : open.at(-1));
  if (asked) {
    // What made it has not come to its end: it may not have been announced.
    if (own(asked) && !wanted.onlyLooks && !isAnnounced(wanted, asked))
      await announceWanted(wanted, asked);
    return { waits: waitsWords(asked) };
  }
  if (question) return { waits: `waits: ${question.words}: ${question.hint}` };
  // Once for each commit: no one is asked every day. But one that was approved ended while its window was closed.
  const newest = unused.findLast(own);
  const isDue = newest && isApproved(newest) && !isLeft(newest);
  if (newest && !isDue && newest.ended?.how !== 'superseded')
    return { waits: `waits: ${endWords(newest)}` };
  if (wanted.onlyLooks) return undefined;
  for (const { plan, applied, ended } of known)
    if (plan.by === wanted.by && !applied && !ended) supersede({ io, paths }, plan.id);
  const reporter = withoutSteps(wanted.reporter);
  const request = { ...wanted, app: app.app, reporter, length: DAY };
  const made = await wanted.locked(() => makeUnderLock(request));
  await announceWanted(wanted, made);
  return { waits: waitsWords(made) };
}

function supersede({ io, paths }: Server, id: string): void {
  const why = 'was replaced by a newer plan';
  changePlan({ io, paths }, id, (now) =>
    now.applied ? now : { ...now, ended: { at: io.now().toISOString(), how: 'superseded', why } },
  );
}

/** Whether the approvals of a plan were asked for; true where the audit log cannot be read, or after a day. */
function isAnnounced({ io, paths }: Server, { plan: { id, made } }: StoredPlan): boolean {
  if (io.now().getTime() - Date.parse(made) > DAY) return true;
  const isIt = (record: LogRecord | undefined) =>
    record?.plan === id && kindOf(record) === 'ApprovalWanted';
  const known = () =>
    waitingLines(paths).map(readRecord).some(isIt) || [...recordsSince(paths, made)].some(isIt);
  return unlessFailure(known, true);
}

/**
 * Ends the plans whose time is over, and announces those that still needed an approval. Also announces those
 * of the apps whose maker, someone else, was killed before it could. Never throws a Failure.
 */
export async function keepPlans(announcing: Announcing, apps: readonly string[]): Promise<void> {
  const { io, paths, reporter } = announcing;
  const now = io.now().toISOString();
  const announcer = announcerOf(announcing);
  const expire = ({ id, app: name, verb, version, expires }: CommandPlan) => {
    const app = findApp(paths, name);
    if (!app) return;
    const why = `expired at ${expires}`;
    const reason = `${id} ${why} without its approvals: runner plan ${verb} ${name}`;
    const change = { event_type: 'PlanExpired', version, plan: id, reason } as const;
    changePlan(announcing, id, (each) => {
      if (each.applied) return each;
      // For one with a problem no approval was asked.
      if (!isApproved(each) && !problemWords(each)) announcer.announceAhead({ app, change });
      return { ...each, ended: { at: now, how: 'expired', why } };
    });
  };
  const isUnannounced = (each: StoredPlan) => {
    const { app, by, needs } = each.plan;
    if (by === 'fetch' || needs.count === 0 || !apps.includes(app)) return false;
    if (!isOpen(each, io.now()) || isApproved(each) || problemWords(each)) return false;
    return !isAnnounced(announcing, each);
  };
  for (const each of listPlans(paths)) {
    const { plan, applied, ended } = each;
    const failure = failureIn(() => {
      if (isUnannounced(each)) announcer.announceAhead(wantedChange(announcing, each));
      if (!applied && !ended && plan.expires <= now) expire(plan);
    });
    if (failure)
      reporter.note(`plan ${plan.id} of ${plan.app}: ${failure.message} (${failure.code})`);
  }
  await announcer.finish();
}
