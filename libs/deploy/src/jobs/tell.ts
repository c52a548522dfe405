/** Records and messages of jobs: a trouble once, and once more when it is over. */
import type { JobEntry } from '@runner/common/apps/job-book';
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

/** A trouble that began, or goes on: whether it is news, and the entry that knows of it. */
export function troubled(
  entry: JobEntry,
  kind: 'failed' | 'missed',
  now: string,
): { readonly entry: JobEntry; readonly isNews: boolean } {
  const { trouble } = entry;
  const isNews = trouble?.kind !== kind;
  const count = isNews ? 1 : trouble.count + 1;
  return { entry: { ...entry, trouble: { since: trouble?.since ?? now, kind, count } }, isNews };
}

/** What is over, in words. */
export function troubleWords({ kind, since }: NonNullable<JobEntry['trouble']>): string {
  return `${kind === 'failed' ? 'had failed' : 'had been missed'} since ${since}`;
}
