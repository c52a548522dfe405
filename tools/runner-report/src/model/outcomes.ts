/** Outcomes per day, and durations. */
import type { PastDeploy } from '@runner/history/deploys/deploy';
import { type Period, percentile } from '@runner/history/figures/figures';
import { bin, greatest } from 'd3-array';
import type { ChartOutcome } from './model.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** More days than this are grouped into weeks. */
const COLUMNS = 130;
const SLOWEST = 6;
/** Number of points on the median line. */
const MEDIANS = 18;
/** Grid on which only one point per cell is drawn. */
const CELLS = { x: 160, y: 40 } as const;

export function outcomeOf({ result, byHand }: PastDeploy): ChartOutcome {
  if (byHand) return result === 'success' ? 'by_hand' : 'failed';
  if (result === 'success' || result === 'failed' || result === 'rolled_back') return result;
  return 'unfinished';
}

/** Width of a column in ms: an hour, a day or whole weeks. */
function widthFor({ since, until }: Period): number {
  const length = until - since;
  if (length <= 3 * DAY) return HOUR;
  if (length <= COLUMNS * DAY) return DAY;
  return Math.ceil(length / (COLUMNS * 7 * DAY)) * 7 * DAY;
}

/** The deploys of an hour, a day or several days. */
export type Bin = ReturnType<typeof binsOf>[number];

export function binsOf(deploys: readonly PastDeploy[], period: Period) {
  const width = widthFor(period);
  // Weeks end today, so that the last one is complete.
  const end = Math.ceil(period.until / Math.min(width, DAY)) * Math.min(width, DAY);
  const first = end - Math.ceil((end - period.since) / width) * width;
  const edges = Array.from({ length: (end - first) / width }, (_, index) => first + index * width);
  const bins = bin<PastDeploy, number>()
    .value(({ start }) => start)
    .domain([first, end])
    .thresholds(edges.slice(1))(deploys as PastDeploy[]);
  return bins.map((each, index) => {
    const counts = { success: 0, failed: 0, rolled_back: 0, unfinished: 0, by_hand: 0 };
    for (const deploy of each) counts[outcomeOf(deploy)] += 1;
    const from = edges[index] as number;
    return { from, to: from + width, ...counts };
  });
}

/** Undefined if the deploy did not end. */
function tookOf(deploy: PastDeploy) {
  const { duration_ms: ms, start, result } = deploy;
  if (typeof ms !== 'number' || result === 'interrupted') return undefined;
  return { at: start, ms: Math.max(ms, 1), good: result === 'success' };
}

type Took = NonNullable<ReturnType<typeof tookOf>>;

/** The durations, without points that would be drawn on top of others. */
export function tookOfAll(deploys: readonly PastDeploy[], { since, until }: Period): Took[] {
  const all = deploys.flatMap((deploy) => tookOf(deploy) ?? []);
  const most = Math.log(greatest(all, ({ ms }) => ms)?.ms ?? 1) || 1;
  const seen = new Map<string, Took>();
  for (const took of all) {
    const x = Math.floor(((took.at - since) / (until - since)) * CELLS.x);
    const y = Math.floor((Math.log(took.ms) / most) * CELLS.y);
    seen.set(`${x} ${y} ${took.good}`, took);
  }
  return [...seen.values()];
}

export type Median = Omit<Took, 'good'>;

/** Median durations of successful deploys, over equal parts of the period. */
export function mediansOf(deploys: readonly PastDeploy[], { since, until }: Period): Median[] {
  const parts = Array.from({ length: MEDIANS }, () => [] as number[]);
  for (const deploy of deploys) {
    const took = tookOf(deploy);
    const part = Math.floor(((deploy.start - since) / (until - since)) * MEDIANS);
    if (took?.good) parts[part]?.push(took.ms);
  }
  const middle = (index: number) => since + ((index + 0.5) / MEDIANS) * (until - since);
  return parts.flatMap((all, index) => {
    const ms = percentile(all, 50);
    return ms === null ? [] : [{ at: middle(index), ms }];
  });
}

/** The slowest deploys first. */
export function slowestOf(deploys: readonly PastDeploy[]) {
  const all = deploys.flatMap((deploy) => {
    const took = tookOf(deploy);
    return took ? [{ deploy, took }] : [];
  });
  all.sort((a, b) => b.took.ms - a.took.ms);
  return all.slice(0, SLOWEST).map(({ deploy, took }) => {
    const step = greatest(deploy.steps, ({ ms }) => ms);
    return {
      ...took,
      project: deploy.project,
      version: deploy.version ?? '',
      /** Its longest step, in words; empty if unknown. */
      step: step?.stage ?? '',
      stepMs: step?.ms ?? 0,
    };
  });
}
