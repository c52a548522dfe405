/** Builds the report from the history, and redacts it. */
import type { AppSummary } from '@runner/common/apps/summary';
import type { LogRecord } from '@runner/common/audit/record';
import type { PastDeploy } from '@runner/history/deploys/deploy';
import { figuresOf, isIn, type Period } from '@runner/history/figures/figures';
import { causesOf } from './causes.ts';
import { jobRowsOf } from './jobs.ts';
import { lanesOf } from './lanes.ts';
import type { Cut } from './model.ts';
import { binsOf, mediansOf, slowestOf, tookOfAll } from './outcomes.ts';
import { type DeployFacts, rowsOf } from './rows.ts';
import { runningOf } from './running.ts';

export interface ReportSource extends DeployFacts {
  /** Undefined: the records came from standard input. */
  readonly server: string | undefined;
  readonly app: string | undefined;
  readonly period: Period;
  /** All known deploys, oldest first. */
  readonly history: readonly PastDeploy[];
  /** The registered apps; undefined if the registry cannot be read. */
  readonly apps: readonly AppSummary[] | undefined;
}

export type Report = ReturnType<typeof reportOf>;

export function reportOf(source: ReportSource) {
  const { history, period, apps, compareOf, backupOf, ...about } = source;
  const wanted = history.filter((deploy) => isIn(period, deploy));
  const deploys = wanted.filter(({ byHand }) => !byHand);
  const figures = figuresOf(history, period);
  const drawn = drawnPart(period, history);
  return {
    ...about,
    period,
    /** The part of the period that the pictures show: it begins with the first deploy. */
    drawn,
    figures,
    failedChanges: Math.round((figures.change_failure_rate ?? 0) * figures.changes),
    running: runningOf(history, apps),
    bins: binsOf(deploys, drawn),
    took: tookOfAll(deploys, drawn),
    median: mediansOf(deploys, drawn),
    slowest: slowestOf(deploys),
    lanes: lanesOf(history, drawn),
    causes: causesOf(deploys),
    jobs: jobRowsOf(apps),
    rows: rowsOf(history, (deploy) => isIn(period, deploy), { compareOf, backupOf }),
  };
}

const DAY = 86_400_000;

/** From the day of the first known deploy on: on the first day, ninety empty days would hide it. */
function drawnPart({ since, until }: Period, history: readonly PastDeploy[]): Period {
  const timed = history.find(({ start }) => !Number.isNaN(start));
  const first = Math.min(until - DAY, timed?.start ?? since);
  return { since: Math.max(since, Math.floor(first / DAY) * DAY), until };
}

/** Redacts one record. */
export type Clean = <T extends LogRecord>(record: T) => Promise<T>;

/** The report without this server's secrets; each entry is redacted like a record of its app. */
export async function redacted(report: Report, clean: Clean): Promise<Report> {
  const all = async <T extends object>(list: readonly T[]) => {
    const cleaned: T[] = [];
    for (const each of list) cleaned.push((await clean(each as T & LogRecord)) as T);
    return cleaned;
  };
  const allOf = async <T extends object>({ shown, omitted }: Cut<T>): Promise<Cut<T>> => {
    return { shown: await all(shown), omitted };
  };
  const { steps } = await clean({ steps: report.figures.slowest_steps });
  return {
    ...report,
    figures: { ...report.figures, slowest_steps: steps },
    running: await allOf(report.running),
    slowest: await all(report.slowest),
    lanes: await allOf(report.lanes),
    causes: await allOf(report.causes),
    rows: await allOf(report.rows),
    jobs: await allOf(report.jobs),
  };
}
