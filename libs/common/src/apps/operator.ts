/** What operators stopped, paused and held. */

/** Instances that an operator stopped: `fetch`, doctor and the next boot leave them alone. */
export interface Stopped {
  since: string;
  by: string;
  reason: string | null;
  instances: string[];
}

/** Whether an operator stopped an instance. */
export function isStopped(
  { stopped }: { readonly stopped?: Stopped | null },
  instance: string,
): boolean {
  return stopped?.instances.includes(instance) ?? false;
}

/** `fetch` deploys nothing of an app. */
export interface Paused {
  since: string;
  by: string;
  /** When it ends; null: with `runner resume`. */
  until: string | null;
  reason: string | null;
}

/** Requests wait, or get a page, instead of reaching the app. */
export interface TrafficHold {
  since: string;
  by: string;
  until: string;
  /** The instances whose requests are held. */
  instances: string[];
  /** They get the operator's page, with status 503; otherwise they wait. */
  page: boolean;
}

export interface ShownHold extends TrafficHold {
  /** Whether requests fail because the process that holds them has died; null: this user cannot tell. */
  lost: boolean | null;
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

/** `requests wait until 2026-05-04 09:30 UTC, held by ada`. */
export function trafficHoldWords({ by, until, page }: TrafficHold): string {
  return `requests ${page ? 'get a page' : 'wait'} until ${shortTime(until)}, held by ${by}`;
}

/** The same, or that they fail because the process that holds them has died, or may have, and what helps. */
export function shownHoldWords(app: string, hold: ShownHold): string {
  if (hold.lost === null)
    return `${trafficHoldWords(hold)}, unless the process that holds them has died`;
  if (!hold.lost) return trafficHoldWords(hold);
  return `requests fail, the process that held them has died: runner fetch ${app}`;
}

/** Instances that were started are no longer stopped. */
export function withoutStopped(
  { stopped }: { readonly stopped?: Stopped | null },
  names: readonly string[],
): Stopped | null {
  const instances = stopped?.instances.filter((name) => !names.includes(name)) ?? [];
  return stopped && instances.length > 0 ? { ...stopped, instances } : null;
}
