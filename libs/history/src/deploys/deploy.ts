/** A deploy or manual rollback, from the records of the audit log. */

import type { SchemaWay } from '@runner/common/apps/database';
import type { ChangeSummary } from '@runner/common/apps/deployed';

/** How long a stage took, in milliseconds. */
export interface StageDuration {
  stage: string;
  ms: number;
}

/** What a deploy or a rollback has done to the database. */
export interface PastMigration {
  /** Absent: only a backup was restored. */
  verdict?: SchemaWay;
  reasons: string[];
  /** The command that restores what was before. */
  restore?: string;
  /** The backup that was restored. */
  restored?: string;
}

/** Times are in milliseconds since 1970; NaN if a record has no valid time. */
export interface PastDeploy {
  /** Start, ISO 8601 in UTC; empty if unknown. */
  timestamp: string;
  project: string;
  instances: string[];
  version?: string | null;
  previous_version?: string | null;
  commit?: string | null;
  subject?: string | null;
  author?: string | null;
  changes?: ChangeSummary;
  user?: string | null;
  /** `unknown`: another tool recorded no end. */
  result: 'success' | 'failed' | 'rolled_back' | 'interrupted' | 'running' | 'unknown';
  /** `manual`, `fetch`, `recovery`; `rollback` for a manual rollback. */
  trigger: string | null;
  /** The tool that deployed; null for runner. */
  source: string | null;
  deploy_id: string | null;
  duration_ms?: number | null;
  /** Downtime during the switch. */
  gap_ms?: number | null;
  stage?: string | null;
  /** The lines that say why it failed, or else its error. */
  cause?: string | null;
  /** A manual rollback. */
  byHand: boolean;
  /** Whether the new version was ever live. */
  switched: boolean;
  steps: StageDuration[];
  database?: PastMigration;
  start: number;
  end?: number;
  /** When an automatic rollback had restored the previous version. */
  restored?: number;
  /** When the commit was made. */
  committed?: number;
}

/** A line of `runner history --json`. */
export interface HistoryRow {
  timestamp: string;
  project: string;
  /** The same under its other name. */
  app: string;
  /** Several names are joined by commas. */
  instance: string;
  version: string | null;
  previous_version: string | null;
  commit: string | null;
  subject: string | null;
  /** null in records since 0.1.0. */
  changes: ChangeSummary | null;
  result: PastDeploy['result'];
  duration_ms: number | null;
  gap_ms: number | null;
  user: string | null;
  trigger: string | null;
  stage: string | null;
  cause: string | null;
  deploy_id: string | null;
}

/** The version of a row, marked if an operator rolled back to it. */
export function versionOfRow({ version, trigger }: HistoryRow): string {
  return `${trigger === 'rollback' ? '← ' : ''}${version ?? '-'}`;
}

/** The row of a deploy in `runner history`. */
export function rowOf(deploy: PastDeploy): HistoryRow {
  const { timestamp, project, instances, result, trigger, deploy_id } = deploy;
  return {
    timestamp,
    project,
    app: project,
    instance: instances.join(','),
    version: deploy.version ?? null,
    previous_version: deploy.previous_version ?? null,
    commit: deploy.commit ?? null,
    subject: deploy.subject ?? null,
    changes: deploy.changes ?? null,
    result,
    duration_ms: deploy.duration_ms ?? null,
    gap_ms: deploy.gap_ms ?? null,
    user: deploy.user ?? null,
    trigger,
    stage: deploy.stage ?? null,
    cause: deploy.cause ?? null,
    deploy_id,
  };
}
