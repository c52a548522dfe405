/** What `runner rollback` prints. */
export interface RollbackOutcome {
  app: string;
  /** `unchanged`: the newest deploy failed, and what was active before it still is. */
  result: 'rolled_back' | 'failed' | 'unchanged';
  /** The version that is active now; null if that is uncertain. */
  version: string | null;
  from_version: string;
  instance: string;
  /** null if nothing was done. */
  deploy_id: string | null;
  /** Each instance, and where it went. */
  instances?: { instance: string; from_version: string; version: string }[];
  /** With `unchanged`: the version that failed. */
  failed_version?: string;
  /** With `unchanged`: what `--to` would go to; null if nothing older is kept. */
  earlier_version?: string | null;
  /** The active version was started again; nothing was switched. */
  restarted?: true;
  /** The backup of the database that was restored, its time, and the command that undoes it. */
  database?: { restored: string; at: string; undo: string };
  duration_ms: number;
  error?: string;
  /** Why the version that was active could not be restored either; the exit status is 3 then. */
  rollback_error?: string;
}
