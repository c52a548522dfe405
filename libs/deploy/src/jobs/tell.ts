/** Records and messages of jobs: a trouble once, and once more when it is over. */
import type { JobEntry, JobRun } from '@runner/common/apps/job-book';
import type { AppState } from '@runner/common/apps/state';
import type { DeployEvent } from '@runner/common/audit/events';
import type { AppChange } from '../alerts/announce.ts';

/** What a job did. */
export interface JobNews {
  readonly event_type: 'JobFailed' | 'JobMissed' | 'JobRecovered' | 'JobSlow';
  readonly reason: string;
  readonly more?: Partial<DeployEvent>;
}

/** What a job did, as a change of its app. */
export function changeOf(
  app: AppState,
  { rules, instance }: JobEntry,
  { event_type, reason, more }: JobNews,
): AppChange {
  const version = app.instances[instance]?.current?.version;
  const common = { instance, job: rules.name, ...(version !== undefined && { version }) };
  return { app, change: { event_type, reason, ...common, ...more } };
}

/** A run is recorded with the version that it ran, which a deploy may have replaced. */
export function ofVersion({ version }: Pick<JobRun, 'version'>): Partial<DeployEvent> {
  return version === null ? {} : { version };
}

/** What is news of a job, and the entry that knows of it. */
export interface ToldJob {
  readonly entry: JobEntry;
  readonly news: readonly JobNews[];
}

/** A trouble that began at `at`, or goes on: only its beginning is news. */
export function troubled(
  entry: JobEntry,
  kind: 'failed' | 'missed',
  at: string,
  beginning: JobNews,
): ToldJob {
  const { trouble } = entry;
  if (trouble?.kind !== kind)
    return { entry: { ...entry, trouble: { since: at, kind, count: 1 } }, news: [beginning] };
  return { entry: { ...entry, trouble: { ...trouble, count: trouble.count + 1 } }, news: [] };
}

/** What is over, in words. */
export function troubleWords({ kind, since }: NonNullable<JobEntry['trouble']>): string {
  return `${kind === 'failed' ? 'had failed' : 'had been missed'} since ${since}`;
}
