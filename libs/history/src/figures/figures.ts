/** Statistics of the deploys in a period. docs/history.md defines each figure. */
import type { PastDeploy } from '../deploys/deploy.ts';

/** Percentiles by nearest rank; null if there are no values. */
export type Figures = ReturnType<typeof figuresOf>;

/** In milliseconds since 1970: `since` inclusive, `until` exclusive. */
export interface Period {
  readonly since: number;
  readonly until: number;
}

const DAY = 86_400_000;
const STEPS_SHOWN = 5;

/** The percentile (0 to 100) by nearest rank. */
export function percentile(values: readonly number[], part: number): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((part / 100) * sorted.length) - 1)] ?? null;
}

export function isIn({ since, until }: Period, { start }: PastDeploy): boolean {
  return start >= since && start < until;
}

/**
 * Counts the deploys that started in the period. `history` has all known deploys, oldest first, because a
 * version may have been rolled back or restored later.
 */
export function figuresOf(history: readonly PastDeploy[], period: Period) {
  const { deploys, changes, failed, leads, restores, durations } = measure(history, period);
  return {
    /** ISO 8601, UTC. */
    since: new Date(period.since).toISOString(),
    until: new Date(period.until).toISOString(),
    deploys: deploys.length,
    changes: changes.length,
    per_day: rounded(deploys.length / ((period.until - period.since) / DAY)),
    lead_time_s: { p50: inSeconds(leads, 50), p90: inSeconds(leads, 90) },
    /** Share of changes that failed, from 0 to 1; null if there are no changes. */
    change_failure_rate: changes.length === 0 ? null : rounded(failed.length / changes.length),
    time_to_restore_s: { p50: inSeconds(restores, 50), p90: inSeconds(restores, 90) },
    duration_ms: { p50: percentile(durations, 50), p95: percentile(durations, 95) },
    /** At most five, by their 95th percentile. */
    slowest_steps: slowest(deploys),
  };
}

/** What the figures of a period are computed from; times in milliseconds. */
export interface Measured {
  readonly deploys: readonly PastDeploy[];
  readonly changes: readonly PastDeploy[];
  readonly failed: readonly PastDeploy[];
  readonly leads: readonly number[];
  readonly restores: readonly number[];
  readonly durations: readonly number[];
}

/** See `figuresOf`. */
export function measure(history: readonly PastDeploy[], period: Period): Measured {
  const deploys = history.filter((deploy) => !deploy.byHand && isIn(period, deploy));
  const left = leftByHand(history);
  const changes = deploys.filter(({ switched }) => switched);
  const failed = changes.filter((deploy) => deploy.result !== 'success' || left.has(deploy));
  const leads = deploys.flatMap((deploy) => leadOf(deploy) ?? []);
  const good = goodMoments(history);
  const restores = failed.flatMap((deploy) => restoreOf(deploy, good) ?? []);
  const durations = deploys.flatMap(({ duration_ms }) => duration_ms ?? []);
  return { deploys, changes, failed, leads, restores, durations };
}

/** The deploys whose version was later rolled back manually. */
function leftByHand(history: readonly PastDeploy[]): Set<PastDeploy> {
  const left = new Set<PastDeploy>();
  /** The last good deploy of each version. */
  const good = new Map<string, PastDeploy>();
  const keyOf = (project: string, version: PastDeploy['version']) => `${project} ${version}`;
  for (const deploy of history) {
    if (deploy.result !== 'success') continue;
    if (!deploy.byHand) {
      good.set(keyOf(deploy.project, deploy.version), deploy);
      continue;
    }
    const gone = good.get(keyOf(deploy.project, deploy.previous_version));
    if (gone) left.add(gone);
  }
  return left;
}

/** Time from the commit to the success. */
function leadOf({ result, committed, end }: PastDeploy): number | undefined {
  if (result !== 'success' || committed === undefined || end === undefined) return undefined;
  return Math.max(0, end - committed);
}

/** When a deploy or rollback made an app healthy. */
interface GoodMoment {
  readonly time: number;
  readonly deploy: PastDeploy;
}

/** Successes and rollbacks of each app, sorted by time. */
function goodMoments(history: readonly PastDeploy[]): Map<string, GoodMoment[]> {
  const moments = new Map<string, GoodMoment[]>();
  for (const deploy of history) {
    const time = deploy.result === 'success' ? deploy.end : deploy.restored;
    if (time === undefined || Number.isNaN(time)) continue;
    const known = moments.get(deploy.project);
    if (known) known.push({ time, deploy });
    else moments.set(deploy.project, [{ time, deploy }]);
  }
  for (const each of moments.values()) each.sort((a, b) => a.time - b.time);
  return moments;
}

/** How long a failed change lasted: until it was rolled back, else the app's next success or rollback. */
function restoreOf(failed: PastDeploy, good: Map<string, GoodMoment[]>): number | undefined {
  const { end, project, restored } = failed;
  if (end === undefined || Number.isNaN(end)) return undefined;
  if (restored !== undefined) return downOf(failed, restored - end);
  const moments = good.get(project) ?? [];
  let [from, to] = [0, moments.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((moments[middle] as GoodMoment).time < end) from = middle + 1;
    else to = middle;
  }
  const next = moments[from]?.deploy === failed ? moments[from + 1] : moments[from];
  return next && next.time - end;
}

/**
 * How long an app was down until its rollback: what the probes saw, else from the step that failed. The
 * failure is recorded after the rollback, `sinceEnd` ms before the rollback is.
 */
function downOf({ gap_ms: gap, steps }: PastDeploy, sinceEnd: number): number {
  if (gap) return gap;
  const back = steps.find(({ stage }) => stage === 'rollback');
  return Math.max(0, sinceEnd) + (back?.ms ?? 0);
}

function slowest(deploys: readonly PastDeploy[]) {
  const times = new Map<string, number[]>();
  for (const { steps } of deploys)
    for (const { stage, ms } of steps) {
      const known = times.get(stage);
      if (known) known.push(ms);
      else times.set(stage, [ms]);
    }
  return [...times]
    .map(([stage, all]) => ({ stage, p50: percentile(all, 50), p95: percentile(all, 95) }))
    .sort((a, b) => (b.p95 ?? 0) - (a.p95 ?? 0) || (a.stage < b.stage ? -1 : 1))
    .slice(0, STEPS_SHOWN);
}

function inSeconds(values: readonly number[], part: number): number | null {
  const found = percentile(values, part);
  return found === null ? null : found / 1000;
}

/** Rounds to four decimal places. */
function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
