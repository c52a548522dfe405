/** What the approvals that an app needs mean for what is shown of it. */
import {
  type ApprovalRule,
  type ApprovedVerb,
  approvalRuleOf,
} from '@runner/common/config/approval';
import { readConfig } from '@runner/common/config/file';
import { readTextIfThere } from '../files/read.ts';
import { unlessFailure } from '../foundation/attempt.ts';
import type { Paths } from '../foundation/paths.ts';
import { pauseOf, pauseWords, stoppedWords } from './operator.ts';
import {
  approveWords,
  type CommandPlan,
  canBeApproved,
  isApproved,
  isOpen,
  listPlans,
  problemWords,
  type StoredPlan,
  waitsWords,
} from './plans.ts';
import { type LeftMigration, leftMigration } from './schema-way.ts';
import type { AppState } from './state.ts';

/** A plan that can be approved or applied now. */
export interface WaitingPlan {
  id: string;
  verb: string;
  version: string;
  by: string;
  approved: boolean;
  /** Whether enough people may still approve it. */
  approvable: boolean;
  /** For whose approval it waits, or what applies it, in words. */
  waits: string;
}

const NONE = 'none';
/** Bytes; a larger config.yml is refused by what reads it. */
const CONFIG_MAX = 65_536;

/** What a plan is bound to of the state of its app alone, by name. */
export function stateFacts(app: AppState, now: Date): CommandPlan['facts'] {
  const { stopped, held } = app;
  const pause = pauseOf(app, now);
  const instances = Object.entries(app.instances).flatMap(([name, { current, broken }]) => [
    [`active version of ${name}`, current ? `${current.version} [${current.deploy_id}]` : NONE],
    [`trouble of ${name}`, broken ? `broken since ${broken.since}` : NONE],
  ]);
  return {
    ...Object.fromEntries(instances),
    pause: pause ? `${pauseWords(pause)}, since ${pause.since}` : NONE,
    stop: stopped ? `${stoppedWords(stopped)}, since ${stopped.since}` : NONE,
    hold: held ? held.reason : NONE,
  };
}

/**
 * Open plans that neither the state of the app nor the approvals it needs now have overtaken, the oldest first;
 * `isOutdated` knows what else a plan is bound to.
 */
export function openPlans(
  paths: Paths,
  app: AppState,
  now: Date,
  isOutdated?: (app: AppState, plan: CommandPlan) => boolean,
): StoredPlan[] {
  const open = listPlans(paths, app.app).filter((each) => isOpen(each, now));
  if (open.length === 0) return open;
  const facts = Object.entries(stateFacts(app, now));
  const counts = countsOf(paths, app.app);
  // A fact that cannot be shown begins with #.
  const isAsked = app.migrating && !app.migrating.asks;
  return open.filter(
    ({ plan }) =>
      !(isAsked && plan.verb === 'deploy' && !plan.migrated) &&
      plan.needs.count >= (counts[plan.verb] ?? 0) &&
      facts.every(([name, is]) => {
        const was = plan.facts[name] ?? NONE;
        return was === is || was.startsWith('#');
      }) &&
      !isOutdated?.(app, plan),
  );
}

/** The open plans that can be approved or applied, the oldest first. */
export function waitingPlans(open: readonly StoredPlan[]): WaitingPlan[] {
  const good = open.filter((each) => !problemWords(each));
  return good.map((each) => {
    const { id, verb, version, by } = each.plan;
    const approvable = canBeApproved(each);
    const waits = waitsWords(each);
    return { id, verb, version, by, approved: isApproved(each), approvable, waits };
  });
}

/** What the next automatic deploy waits for, and what to type; undefined: no approval. */
export function deployWaits(
  paths: Paths,
  app: string,
  open: readonly StoredPlan[],
): string | undefined {
  // Without a rule the next deploy waits for no plan.
  if (open.length === 0 || !countsOf(paths, app).deploy) return undefined;
  const deploys = open.filter(({ plan }) => plan.verb === 'deploy');
  const isGood = (each: StoredPlan) => !problemWords(each);
  const newest = deploys.findLast(isGood) ?? deploys.findLast(({ plan }) => plan.by === 'fetch');
  if (!newest) return undefined;
  const next = isGood(newest) && !isApproved(newest) ? `: ${approveWords(newest)}` : '';
  return `${newest.plan.version} ${waitsWords(newest)}${next}`;
}

/** Empty where config.yml cannot be read: it is only about what is shown. */
function countsOf(paths: Paths, app: string): ApprovalRule['counts'] {
  return unlessFailure(() => {
    // Most servers need none, and loading YAML takes longer than all else.
    const isAsked = readTextIfThere(paths.config, CONFIG_MAX)?.includes('require_approval');
    return isAsked ? approvalRuleOf(readConfig(paths), app).counts : {};
  }, {});
}

/** As `leftMigration`, with the commands that are not refused. */
export function leftQuestion(
  paths: Paths,
  app: AppState,
  asks?: boolean,
): LeftMigration | undefined {
  const left = leftMigration(app, asks);
  if (!left) return undefined;
  const named = (text: string) => withApprovals(paths, app.app, [], text);
  return { words: left.words, hint: named(left.hint), command: named(left.command) };
}

/** Commands in a text that would be refused, as what is to be typed in their place. */
export function withApprovals(
  paths: Paths,
  app: string,
  plans: readonly WaitingPlan[],
  text: string,
): string {
  return text.replace(
    /\brunner (deploy|rollback|restart|start|stop|contract) ([^\s,;]+)( -[^;]*)?/g,
    (typed, verb: ApprovedVerb, name: string, options = '') => {
      if (name !== app || !countsOf(paths, app)[verb]) return typed;
      const isPlans = options === '' || options.startsWith(' --migrated ');
      const plan = isPlans
        ? plans.findLast((each) => each.verb === verb && each.approvable)
        : undefined;
      if (!plan) return `runner plan ${verb} ${name}${options}`;
      return `runner ${plan.approved ? 'apply' : 'approve'} ${plan.id}`;
    },
  );
}
