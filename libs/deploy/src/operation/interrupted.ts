/** A deploy or rollback whose process died, as recorded in the state. */
import type { Deploying } from '@runner/common/apps/state';

/** `deploy interrupted during build`. */
export function headlineOf({ rollback, stage }: Deploying): string {
  return `${rollback ? 'rollback' : 'deploy'} interrupted during ${stage}`;
}

/** Whether it was killed in a stage in which its start is recorded and announced. */
export function isEarly({ stage }: Deploying): boolean {
  return stage === 'config' || stage === 'export';
}
