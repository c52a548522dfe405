/** A plan as it is printed. */

import type { ChangeSummary } from '@runner/common/apps/deployed';
import {
  approveWords,
  type CommandPlan,
  isApproved,
  isOpen,
  type StoredPlan,
  waitsWords,
} from '@runner/common/apps/plans';
import { signerWords } from '@runner/common/apps/signed';
import { findApp } from '@runner/common/apps/store';
import { fields, type Style } from '@runner/common/cli/output';
import { unlessFailure } from '@runner/common/foundation/attempt';
import type { Server } from '@runner/common/foundation/paths';
import { redactorForAny } from '@runner/common/redaction/redact';
import { harmlessLine } from '@runner/common/text/harmless';
import { utcText } from '@runner/common/text/time';
import { changesSince } from '@runner/deploy/approval/facts';
import { becameOf } from '@runner/deploy/plan/became';

/** What `--json` prints: the plan, and what has become of it. */
export type PlanView = CommandPlan &
  Pick<StoredPlan, 'approvals' | 'applied' | 'ended'> & {
    /** What has changed since, so that it can no longer be applied; null: nothing that is known, or it ended. */
    outdated: string | null;
    /** Of one that is being applied or was killed, how that stands, in words; else null. */
    stands: string | null;
  };

export function newPlanView({ plan, approvals, applied, ended }: StoredPlan): PlanView {
  return { ...plan, approvals, applied, ended, outdated: null, stands: null };
}

export async function viewOf(server: Server, found: StoredPlan): Promise<PlanView> {
  const { io, paths } = server;
  const { stored, stands } = becameOf(paths, found);
  const app = unlessFailure(() => findApp(paths, stored.plan.app), undefined);
  const view = { ...newPlanView(stored), stands };
  if (!app || !isOpen(stored, io.now())) return view;
  const changed = unlessFailure(() => changesSince(server, app, stored.plan), []);
  if (changed.length === 0) return view;
  const redact = await redactorForAny({ paths, env: io.env }, app.app);
  return { ...view, outdated: redact(changed.join('; ')) };
}

/** What it waits for, or how it ended. */
export function stateWords(
  { approvals, applied, ended, outdated, stands, ...plan }: PlanView,
  now: Date,
): string {
  const stored = { plan, text: '', approvals, applied, ended };
  if (ended) return ended.why;
  if (applied) return `applied by ${applied.by} as ${applied.deploy_id}: ${stands}`;
  if (!isOpen(stored, now)) return `expired at ${utcText(plan.expires)}`;
  if (outdated !== null) return `outdated: ${outdated}`;
  if (plan.summary.problems.length > 0) return 'cannot be applied: it has a problem';
  return isApproved(stored) ? `ready: runner apply ${plan.id}` : waitsWords(stored);
}

/** Paths and subjects that are shown. */
const SHOWN = 10;

/** The plan in lines; foreign text in it is harmless. */
export function planText(view: PlanView, style: Style, { io }: { io: { now(): Date } }): string {
  const { summary, commit, needs } = view;
  const { changes, files } = summary;
  const users = needs.by.filter((each) => !needs.barred?.includes(each)).join(' or ');
  const moves = summary.moves.map(
    ({ instance, from, to }): PlanRow => [
      `${instance}:`,
      `${from ?? (view.verb === 'deploy' ? 'nothing' : 'stopped')} -> ${to ?? 'stopped'}`,
    ],
  );
  const rows: PlanRow[] = [
    ...moves,
    ...labelled('reason:', view.reason ? [view.reason] : []),
    ...(commit ? [['commit:', commit] as PlanRow] : []),
    ...(changes?.count === 0 ? labelled('commits:', ['none is new']) : []),
    ...(changes && changes.count !== 0
      ? labelled('commits:', [
          `${changes.count ?? 'not known how many'}, by ${changes.authors.join(', ')}`,
          ...changes.subjects,
        ])
      : []),
    ...(summary.signed_by ? [['signed by:', signerWords(summary.signed_by)] as PlanRow] : []),
    ...labelled('may reach:', changes?.network_added ?? []),
    ...labelled('scripts:', scriptWords(changes)),
    ...(files
      ? labelled('files:', [`${files.count} changed`, ...files.paths.slice(0, SHOWN)])
      : []),
    ['database:', summary.database],
    ...answerRows(view),
    ...(summary.contract
      ? [['contract:', 'runs if no kept release needs what it removes'] as PlanRow]
      : []),
    ['gap:', summary.gap],
    ['memory:', summary.memory],
    ['undo:', summary.undo],
    ['notified:', summary.notified.join(', ') || 'no one'],
    [
      'approvals:',
      needs.count === 0
        ? 'none needed'
        : `${needs.count} by ${users || (needs.by.length > 0 ? 'no one' : 'someone else')}${needs.not_author ? ', not an author' : ''}`,
    ],
    ...labelled(
      'approved by:',
      view.approvals.map(
        ({ by, at, how, lapsed }) =>
          `${by}, ${how}, ${utcText(at)}${lapsed === undefined ? '' : `; it no longer counts: it ${lapsed}`}`,
      ),
    ),
    ['made by:', `${view.by}, ${utcText(view.made)}`],
    ['expires:', utcText(view.expires)],
    ...labelled('problem:', summary.problems),
    ...labelled('warning:', summary.warnings),
  ];
  const name = style.bold(harmlessLine(`${view.verb} ${view.app} ${view.version}`));
  const shown = rows.map(([label, value]) => [harmlessLine(label), harmlessLine(value)] as const);
  const state = harmlessLine(stateWords(view, io.now()));
  const next = state.startsWith('waits')
    ? `\nTo approve it: ${approveWords({ plan: view, approvals: view.approvals })}`
    : '';
  return `${name} [${view.id}]\n${fields(shown)}${state}${next}\n`;
}

/** What its maker has decided. */
function answerRows({ accept_schema, migrated, accept_rewrite }: PlanView): PlanRow[] {
  return [
    ...labelled('accepts:', accept_schema ? [`the database as it is, for ${accept_schema}`] : []),
    ...labelled(
      'answers:',
      migrated ? [`the killed migration is in the database: ${migrated}`] : [],
    ),
    ...labelled(
      'accepts:',
      accept_rewrite ? ['a commit that does not descend from the last accepted one'] : [],
    ),
  ];
}

/** Packages whose install script is new; a record names 20 of them. */
function scriptWords(changes: ChangeSummary | null): string[] {
  const names = changes?.new_install_scripts ?? [];
  const more = (changes?.new_install_scripts_count ?? names.length) - names.length;
  const lines = names.map((name) => `${name} runs an install script, and ran none`);
  return more > 0 ? [...lines, `and ${more} more`] : lines;
}

type PlanRow = [label: string, value: string];

/** The label stands before the first line. */
const labelled = (label: string, lines: readonly string[]): PlanRow[] =>
  lines.map((line, at) => [at === 0 ? label : '', line]);
