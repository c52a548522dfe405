/** The page's content as plain data; times are in milliseconds since 1970. */
import type { Figures, Period } from '@runner/history/figures/figures';

/** The outcome of a deploy, as the charts distinguish it. */
export type ChartOutcome = 'success' | 'failed' | 'rolled_back' | 'by_hand' | 'unfinished';

/** A truncated list and the number of entries left out. */
export interface Cut<T> {
  readonly shown: readonly T[];
  readonly omitted: number;
}

/** The first `most` entries. */
export function cut<T>(all: readonly T[], most: number): Cut<T> {
  return { shown: all.slice(0, most), omitted: Math.max(0, all.length - most) };
}

export interface RunningVersion {
  readonly project: string;
  readonly instance: string;
  /** As in `runner list`; empty without access to the registry. */
  readonly state: string;
  readonly version: string;
  readonly subject: string;
  readonly since: number;
  readonly by: string;
}

/** The deploys of an hour, a day or several days. */
export interface Bin {
  readonly from: number;
  readonly to: number;
  readonly success: number;
  readonly failed: number;
  readonly rolled_back: number;
  readonly unfinished: number;
}

export interface Took {
  readonly at: number;
  readonly ms: number;
  readonly good: boolean;
}

export interface Slow extends Took {
  readonly project: string;
  readonly version: string;
  /** Its longest step, in words; empty if unknown. */
  readonly step: string;
  readonly stepMs: number;
}

export interface Median {
  readonly at: number;
  readonly ms: number;
}

/** One app's row in the timeline. */
export interface Lane {
  readonly project: string;
  readonly deploys: number;
  readonly failed: number;
  readonly versions: readonly {
    readonly version: string;
    readonly from: number;
    readonly to: number;
  }[];
  readonly marks: readonly FailureMark[];
}

/** `count` failures on a lane at about the same time. */
export interface FailureMark {
  readonly at: number;
  readonly outcome: Exclude<ChartOutcome, 'success'>;
  readonly version: string;
  readonly count: number;
}

/** Failures whose causes have the same shape. */
export interface Cause {
  /** The newest of them: its line, app and version. */
  readonly line: string;
  readonly project: string;
  readonly version: string;
  readonly stage: string;
  readonly count: number;
  readonly apps: number;
  readonly last: number;
}

/** A row of the table of deploys. */
export interface DeployRow {
  readonly at: number;
  readonly project: string;
  readonly instance: string;
  readonly version: string;
  readonly outcome: ChartOutcome;
  readonly result: string;
  readonly ms: number | null;
  readonly by: string;
  /** Subject of the commit, or the cause of the failure. */
  readonly text: string;
  /** The code host's page with the changes; empty if unknown. */
  readonly link: string;
  /** What it did to the database; undefined: nothing. */
  readonly database: DatabaseNote | undefined;
}

/** A job of an active release. */
export interface JobRow {
  readonly project: string;
  readonly job: string;
  readonly when: string;
  /** Its newest run: how it ended, when it began, and how long it took, in ms; NaN without one. */
  readonly outcome: string;
  readonly at: number;
  readonly ms: number | null;
  /** NaN: no time is due. */
  readonly next: number;
  readonly stopped: boolean;
  /** In words; empty if all is well. */
  readonly trouble: string;
}

/** What a deploy or rollback did to the database, in words. */
export interface DatabaseNote {
  readonly words: string;
  /** The backup from before it, and the command that restores that; empty without one. */
  readonly backup: string;
  readonly restore: string;
}

export interface Report {
  /** Undefined: the records came from standard input. */
  readonly server: string | undefined;
  /** Undefined: all apps. */
  readonly app: string | undefined;
  readonly period: Period;
  /** The part of the period that the pictures show: it begins with the first deploy. */
  readonly drawn: Period;
  readonly figures: Figures;
  readonly failedChanges: number;
  readonly running: Cut<RunningVersion>;
  readonly bins: readonly Bin[];
  readonly took: readonly Took[];
  readonly median: readonly Median[];
  readonly slowest: readonly Slow[];
  readonly lanes: Cut<Lane>;
  readonly causes: Cut<Cause>;
  readonly rows: Cut<DeployRow>;
  readonly jobs: Cut<JobRow>;
}
