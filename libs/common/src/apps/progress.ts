/** How far a running command is, in words. */
import { durationText } from '../text/time.ts';
import type { Deploying } from './state.ts';

/** `at build after 42 s`. */
export function progressText(stage: string | undefined, since: string, now: Date): string {
  const at = stage === undefined ? '' : `at ${stage} `;
  const elapsed = now.getTime() - Date.parse(since);
  return `${at}after ${durationText(Number.isNaN(elapsed) ? 0 : Math.max(0, elapsed))}`;
}

/** What runs, or was killed: `deploy`, `rollback`, `restart`. */
export function operationWord({ rollback, verb }: Pick<Deploying, 'rollback' | 'verb'>): string {
  return verb ?? (rollback ? 'rollback' : 'deploy');
}
