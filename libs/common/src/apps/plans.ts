/** Plans: what a command would do, bound to how things are now, and who approved it. One file each. */
import { type Approval, countingOf, judged, lapsedWords } from '@runner/common/apps/approvals';
import { holderFor, requireLock } from '../files/lock.ts';
import { makeFolder, namesIn, readTextIfThere } from '../files/read.ts';
import { writeWhole } from '../files/write.ts';
import { unlessFailure } from '../foundation/attempt.ts';
import { Failure } from '../foundation/failure.ts';
import type { Paths, Server } from '../foundation/paths.ts';
import { jsonObject } from '../text/json.ts';
import { word } from '../text/shell.ts';
import type { ChangeSummary } from './deployed.ts';
import { shortTime } from './operator.ts';
import type { SignedBy } from './signed.ts';

export const PLANNED_VERBS = [
  'deploy',
  'rollback',
  'restart',
  'start',
  'stop',
  'contract',
] as const;
/** One of them. */
export type PlannedVerb = (typeof PLANNED_VERBS)[number];

/** What would happen, for people; every text is redacted. */
export interface PlanSummary {
  /** The version that each instance would leave, and that it would run. */
  moves: { instance: string; from: string | null; to: string | null }[];
  changes: ChangeSummary | null;
  /** Who signed the commit of a deploy; absent where that is not required. */
  signed_by?: SignedBy;
  /** Paths that differ, at most 50, and how many there are; null: not known, or none could. */
  files: { count: number; paths: string[] } | null;
  /** What it does to the database, or meets in it. */
  database: string;
  /** Whether `contract` of the release that stays would run. */
  contract: boolean;
  gap: string;
  memory: string;
  undo: string;
  /** The channels that are notified. */
  notified: string[];
  problems: string[];
  warnings: string[];
}

/** What is approved: it never changes once the plan is made. */
export interface CommandPlan {
  id: string;
  /** Name of the host, so that an approval is of no use elsewhere. */
  server: string;
  app: string;
  verb: PlannedVerb;
  /** As they were given; null: not given. */
  ref: string | null;
  to: string | null;
  instance: string | null;
  reason: string | null;
  /** Of a rollback: the backup that it restores, and the version that it accepts; absent in older plans. */
  database?: string | null;
  accept_schema?: string | null;
  /** Of a deploy: the answer about a killed migration, and whether it may leave the line of commits; absent in older plans. */
  migrated?: 'yes' | 'no' | null;
  accept_rewrite?: boolean;
  /** Of a deploy: the commit and its version. Of a rollback: those it goes to. */
  commit: string | null;
  version: string;
  /** Who made it: a user; `fetch`; who signed an order; `grant NAME`. */
  by: string;
  /** The grant of the agent that made it. */
  grant: string | null;
  made: string;
  expires: string;
  /**
   * Approvals it needs, and who may give them; empty: any person but the account that runner has. `barred` are
   * those of them whose approval does not count with `not_author`; absent in older plans.
   */
  needs: { count: number; by: string[]; not_author: boolean; barred?: string[] };
  /** Fingerprints of the names and addresses of the authors of its commits. */
  authors: string[];
  summary: PlanSummary;
  /** How things are, in words or fingerprints, by name: applying it refuses if one is different. */
  facts: Record<string, string>;
}

/** How a plan ended without being applied, or what applying it did. */
export interface PlanEnd {
  at: string;
  how: 'done' | 'failed' | 'expired' | 'superseded';
  why: string;
}

/** A plan, and what has become of it. */
export interface StoredPlan {
  readonly plan: CommandPlan;
  /** The exact text of the plan, over which an approval may be signed. */
  readonly text: string;
  readonly approvals: readonly Approval[];
  /** Set before anything is done: it is applied once. */
  readonly applied: { readonly at: string; readonly deploy_id: string; readonly by: string } | null;
  readonly ended: PlanEnd | null;
}

/** Bytes; ours have a few kilobytes. */
const PLAN_MAX = 262_144;
/** Seconds. */
const WAIT = 20;

export const isPlanId = (text: string) => /^p-[0-9a-f]{8}$/.test(text);

/** The bytes of its file, with a sum over them: what was torn or changed is refused. */
function fileOf({ text, approvals, applied, ended }: StoredPlan): string {
  const { createHash } = process.getBuiltinModule('node:crypto');
  const held = { text, approvals, applied, ended };
  const sum = createHash('sha256').update(JSON.stringify(held)).digest('hex');
  return `${JSON.stringify({ sum, ...held })}\n`;
}

/** Throws `plan_not_found`, `plan_invalid`. */
export function readPlan(paths: Paths, id: string): StoredPlan {
  const text = isPlanId(id) ? readTextIfThere(paths.plan(id), PLAN_MAX) : undefined;
  if (text === undefined)
    throw new Failure(
      'plan_not_found',
      `there is no plan '${id.slice(0, 20)}'; see: runner plan list`,
    );
  const rest = jsonObject(text) ?? {};
  const plan = jsonObject(typeof rest.text === 'string' ? rest.text : '') as
    | CommandPlan
    | undefined;
  const stored = { ...rest, plan } as StoredPlan;
  if (plan?.id === id && text === fileOf(stored)) {
    APPS_OF.set(paths.plan(id), plan.app);
    const { approvals, applied, ended } = stored;
    return applied || ended
      ? stored
      : { ...stored, approvals: judged(paths, stored.text, approvals) };
  }
  throw new Failure('plan_invalid', `${paths.plan(id)} was changed or is torn: make a new plan`);
}

/** The app of each plan that was read, by path: for one of many apps those of others are not read again. */
const APPS_OF = new Map<string, string>();

/** All that can be read, the oldest first; empty for those who may not look. */
export function listPlans(paths: Paths, app?: string): StoredPlan[] {
  const isWanted = (of = app) => app === undefined || of === app;
  return unlessFailure(() => namesIn(paths.plansDir), [])
    .filter((name) => /^p-.*\.json$/.test(name))
    .map((name) => name.slice(0, -5))
    .filter((id) => isWanted(APPS_OF.get(paths.plan(id))))
    .flatMap((id) => unlessFailure(() => [readPlan(paths, id)], []))
    .filter(({ plan }) => isWanted(plan.app))
    .sort((a, b) => a.plan.made.localeCompare(b.plan.made));
}

/** Whether it can still be approved and applied. A clock that was set back before it was made ends it too. */
export function isOpen({ plan, applied, ended }: StoredPlan, now: Date): boolean {
  const at = now.toISOString();
  return !applied && !ended && plan.made <= at && at < plan.expires;
}

/** Why it cannot be approved or applied, in words; undefined: it can. */
export function problemWords({ plan }: Pick<StoredPlan, 'plan'>): string | undefined {
  const [problem] = plan.summary.problems;
  if (problem === undefined) return undefined;
  const again = `runner plan ${plan.verb} ${word(plan.app)}`;
  const next = problem.includes(again) ? '' : `; then run ${again}`;
  return `cannot be applied, it has a problem: ${problem}${next}`;
}

export const isApproved = ({ plan, approvals }: StoredPlan) =>
  plan.summary.problems.length === 0 && countingOf(approvals).length >= plan.needs.count;

/** Those who are listed and may still approve it. */
function leftApprovers({ plan, approvals }: Pick<StoredPlan, 'plan' | 'approvals'>): string[] {
  const { by: listed, barred = [] } = plan.needs;
  const given = countingOf(approvals).map(({ by }) => by);
  return listed.filter((user) => !barred.includes(user) && !given.includes(user));
}

/** Whether enough people may still approve it. */
export function canBeApproved(stored: Pick<StoredPlan, 'plan' | 'approvals'>): boolean {
  const { by, count } = stored.plan.needs;
  const more = count - countingOf(stored.approvals).length;
  return by.length === 0 || leftApprovers(stored).length >= more;
}

/** What to type for a plan that waits for approvals. */
export const approveWords = (stored: Pick<StoredPlan, 'plan' | 'approvals'>) =>
  canBeApproved(stored)
    ? `runner approve ${stored.plan.id}`
    : 'list someone else in require_approval of config.yml, for the next plan';

/** `waits for approval p-1a2b3c4d by ada or bob, until 12-24 18:00 UTC`, what applies it, or its problem. */
export function waitsWords(stored: StoredPlan): string {
  const { plan } = stored;
  const problem = problemWords(stored);
  if (problem) return `waits: ${plan.id} ${problem}`;
  const isReady = plan.needs.count === 0 ? 'needs no approval' : 'is approved';
  if (isApproved(stored)) return `${isReady}: runner apply ${plan.id}`;
  const left = leftApprovers(stored);
  const none = canBeApproved(stored) ? '' : ', which no one else may give';
  const by = `${left.length > 0 ? ` by ${left.join(' or ')}` : ''}${none}`;
  const more = plan.needs.count - countingOf(stored.approvals).length;
  const lapsed = lapsedWords(stored.approvals).map((each) => `; ${each}`);
  return `waits for ${more > 1 ? `${more} approvals of` : 'approval'} ${plan.id}${by}, until ${shortTime(plan.expires)}${lapsed.join('')}`;
}

/** Changes plans under their lock: `change` gets the plan on disk and returns what is written. */
export function changePlan(
  server: Server,
  id: string,
  change: (plan: StoredPlan) => StoredPlan,
): StoredPlan {
  return underPlansLock(server, () => write(server.paths, change(readPlan(server.paths, id))));
}

export function createPlan(server: Server, plan: CommandPlan): StoredPlan {
  const text = `${JSON.stringify(plan, null, 2)}\n`;
  return underPlansLock(server, () => {
    makeFolder(server.paths.plansDir, 0o700);
    return write(server.paths, { plan, text, approvals: [], applied: null, ended: null });
  });
}

/** Throws `locked`. */
export function underPlansLock<T>({ io, paths }: Server, work: () => T): T {
  using _lock = requireLock(paths.plansLock, 'the plans', WAIT, holderFor(io, 'plan'));
  return work();
}

function write(paths: Paths, stored: StoredPlan): StoredPlan {
  // Whether one counts is found at each reading.
  const approvals = stored.approvals.map(({ lapsed: _, ...approval }) => approval);
  writeWhole(paths.plan(stored.plan.id), fileOf({ ...stored, approvals }), 0o600);
  return stored;
}
