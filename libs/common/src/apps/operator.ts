/** What operators stopped and paused. */

/** Instances that an operator stopped: `fetch`, doctor and the next boot leave them alone. */
export interface Stopped {
  since: string;
  by: string;
  reason: string | null;
  instances: string[];
}

/** `fetch` deploys nothing of an app. */
export interface Paused {
  since: string;
  by: string;
  /** When it ends; null: with `runner resume`. */
  until: string | null;
  reason: string | null;
}

/** The pause of an app that has not ended. */
export function pauseOf({ paused }: { readonly paused?: Paused | null }, now: Date): Paused | null {
  if (!paused || (paused.until !== null && paused.until <= now.toISOString())) return null;
  return paused;
}

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
export function withoutStopped(
  { stopped }: { readonly stopped?: Stopped | null },
  names: readonly string[],
): Stopped | null {
  const instances = stopped?.instances.filter((name) => !names.includes(name)) ?? [];
  return stopped && instances.length > 0 ? { ...stopped, instances } : null;
}
