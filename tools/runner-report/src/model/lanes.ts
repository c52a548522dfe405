/** The timeline of each app: its active versions and its failures. */
import type { PastDeploy } from '@runner/history/deploys/deploy';
import type { Period } from '@runner/history/figures/figures';
import { group } from 'd3-array';
import { type ChartOutcome, cut } from './model.ts';
import { outcomeOf } from './outcomes.ts';

const LANES = 20;
/** Fractions of the period: shorter versions are invisible, closer marks are merged. */
const SHORTEST = 1 / 200;
const CELL = 1 / 120;

/** Lanes of the apps with the most deploys. `history` includes deploys before the period. */
export function lanesOf(history: readonly PastDeploy[], period: Period) {
  const all = [...group(history, ({ project }) => project)].flatMap(([project, deploys]) => {
    const own = deploys.filter(({ start }) => start >= period.since && start < period.until);
    return own.length === 0 ? [] : [{ project, deploys, own }];
  });
  all.sort((a, b) => b.own.length - a.own.length || (a.project < b.project ? -1 : 1));
  const { shown, omitted } = cut(all, LANES);
  return {
    omitted,
    shown: shown.map(({ project, deploys, own }) => laneOf(project, deploys, own, period)),
  };
}

/** One app's row in the timeline. */
export type Lane = ReturnType<typeof laneOf>;

function laneOf(
  project: string,
  deploys: readonly PastDeploy[],
  own: readonly PastDeploy[],
  period: Period,
) {
  const isGood = ({ result }: PastDeploy) => result === 'success';
  return {
    project,
    deploys: own.filter(({ byHand }) => !byHand).length,
    failed: own.filter(({ byHand, result }) => !byHand && !isGood({ result } as PastDeploy)).length,
    versions: versionsOf(deploys.filter(isGood), period),
    marks: marksOf(own, period),
  };
}

function versionsOf(good: readonly PastDeploy[], { since, until }: Period) {
  const versions: { version: string; from: number; to: number }[] = [];
  for (const { version, end, start } of good) {
    const at = Math.max(since, end ?? start);
    if (Number.isNaN(at) || at >= until) continue;
    const isBrief =
      at - (versions.at(-1)?.from ?? Number.NEGATIVE_INFINITY) < SHORTEST * (until - since);
    const from = isBrief ? (versions.pop()?.from ?? at) : at;
    const last = versions.at(-1);
    if (last && last.version === version) last.to = until;
    else {
      if (last) last.to = from;
      versions.push({ version: version ?? '', from, to: until });
    }
  }
  return versions;
}

/** `count` failures on a lane at about the same time. */
interface FailureMark {
  readonly at: number;
  readonly outcome: Exclude<ChartOutcome, 'success'>;
  readonly version: string;
  readonly count: number;
}

function marksOf(own: readonly PastDeploy[], { since, until }: Period): FailureMark[] {
  const cells = new Map<number, FailureMark>();
  for (const deploy of own) {
    const outcome = outcomeOf(deploy);
    const at = deploy.end ?? deploy.start;
    if (outcome === 'success' || Number.isNaN(at) || at >= until) continue;
    const cell = Math.floor((at - since) / (until - since) / CELL);
    const before = cells.get(cell);
    const worse = before && before.outcome !== 'unfinished' ? before.outcome : outcome;
    const version = (outcome === 'by_hand' ? deploy.previous_version : deploy.version) ?? '';
    cells.set(cell, { at, version, outcome: worse, count: (before?.count ?? 0) + 1 });
  }
  return [...cells.values()];
}
