/** A deploy or rollback whose process died, as the app's state tells of it. */
import type { AppState, Deployed } from '@runner/common/apps/state';
import type { Aftermath } from '../record/broken-instances.ts';
import type { Job } from '../record/job.ts';

/** What recovering needs. */
export type Recovery = Pick<Job, 'io' | 'paths' | 'reporter' | 'redact'>;
/** What the state tells of it. */
export type Dead = NonNullable<AppState['deploying']>;

/** An instance that went back; to null when it had no version before. */
export interface Back {
  readonly instance: string;
  readonly to: Deployed | null;
}

/** What became of the instances. */
export interface Returned {
  readonly back: readonly Back[];
  readonly problems: readonly string[];
  readonly aftermath: readonly Aftermath[];
}

/** `deploy interrupted during build`. */
export function headlineOf({ rollback, stage }: Dead): string {
  return `${rollback ? 'rollback' : 'deploy'} interrupted during ${stage}`;
}

/** Whether it was killed in the stage in which its start is recorded and told. */
export function isEarly({ stage }: Dead): boolean {
  return stage === 'config' || stage === 'export';
}
