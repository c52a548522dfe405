/** A deploy, or a rollback by hand, from the records of the audit log. */

import type { Changes } from '@runner/common/apps/state';

/** How long a stage took, in milliseconds. */
export interface Step {
  stage: string;
  ms: number;
}

/** Times are in milliseconds since 1970, NaN where a record has none that can be read. */
export interface Deploy {
  /** When it began, ISO 8601 in UTC; empty if no record says. */
  timestamp: string;
  project: string;
  instances: string[];
  version?: string | null;
  previous_version?: string | null;
  commit?: string | null;
  subject?: string | null;
  author?: string | null;
  changes?: Changes;
  user?: string | null;
  /** `unknown`: no record of its end. */
  result: 'success' | 'failed' | 'rolled_back' | 'interrupted' | 'running' | 'unknown';
  /** `manual`, `fetch`, `recovery`; `rollback` for a rollback by hand. */
  trigger: string | null;
  deploy_id: string | null;
  duration_ms?: number | null;
  /** How long nothing answered while it switched. */
  gap_ms?: number | null;
  stage?: string | null;
  /** The lines that say why it failed, else its error. */
  cause?: string | null;
  /** A rollback by hand. */
  byHand: boolean;
  /** Whether the new version served at any moment. */
  switched: boolean;
  steps: Step[];
  start: number;
  end?: number;
  /** When an automatic rollback had brought the previous version back. */
  restored?: number;
  /** When the commit was made. */
  committed?: number;
}

/** A line of `runner history --json`. */
export interface HistoryRow {
  timestamp: string;
  project: string;
  /** The names of several are joined by commas. */
  instance: string;
  version: string | null;
  previous_version: string | null;
  commit: string | null;
  subject: string | null;
  /** null in records as of 0.1.0. */
  changes: Changes | null;
  result: Deploy['result'];
  duration_ms: number | null;
  gap_ms: number | null;
  user: string | null;
  trigger: string | null;
  stage: string | null;
  cause: string | null;
  deploy_id: string | null;
}

/** What `runner history` says of a deploy. */
export function rowOf(deploy: Deploy): HistoryRow {
  const { timestamp, project, instances, result, trigger, deploy_id } = deploy;
  return {
    timestamp,
    project,
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
