/** What operators stopped and paused. */
import type { AppState, Paused, Stopped } from './state.ts';

/** `2026-05-04 09:30 UTC`. */
export const shortTime = (time: string) => time.replace(/^(\S+)T(\d\d:\d\d).*$/, '$1 $2 UTC');
const because = (reason: string | null) => (reason ? `: ${reason}` : '');

/** `paused by ada until 2026-05-04 09:30 UTC: release party`. */
export function pauseWords({ by, until, reason }: Paused): string {
  return `paused by ${by}${until ? ` until ${shortTime(until)}` : ''}${because(reason)}`;
}

/** `web was stopped by ada: no money`. */
export function stoppedWords({ by, reason, instances }: Stopped): string {
  return `${instances.join(', ')} stopped by ${by}${because(reason)}`;
}

/** Instances that were started are no longer stopped. */
export function withoutStopped({ stopped }: AppState, names: readonly string[]): Stopped | null {
  const instances = stopped?.instances.filter((name) => !names.includes(name)) ?? [];
  return stopped && instances.length > 0 ? { ...stopped, instances } : null;
}
