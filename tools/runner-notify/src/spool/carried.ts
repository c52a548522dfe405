/** What came of an entry, for who waited for it. */
import type { Complaint, Problem } from '../channels/channel.ts';
import type { Ending } from '../courier.ts';
import type { Entry } from './entry.ts';
import { idOf } from './names.ts';
import type { Next } from './turns.ts';

/** How far an entry came in the time it was waited for. */
export interface Carried {
  /** `failed`: it could not be queued, and was tried in vain. */
  readonly result: 'delivered' | 'queued' | 'rejected' | 'failed';
  readonly entry: Entry;
  /** When it lies in the spool. */
  readonly id: string | undefined;
  readonly problem: Problem | undefined;
  /** Of one that was not tried at all: why, in words. */
  readonly untried: string | undefined;
  /** Milliseconds for which the service asks to be left alone. */
  readonly asked: number | undefined;
  readonly degraded: Complaint | undefined;
  readonly movedTo: string | undefined;
}

/** What a courier's ending says to who waited for the entry. */
export function carriedOf({ name, result, entry, degraded, movedTo }: Ending): Carried {
  return {
    result: result === 'delivered' ? 'delivered' : 'rejected',
    entry,
    id: result === 'delivered' ? undefined : idOf(name),
    problem: entry.problem ?? undefined,
    untried: undefined,
    asked: undefined,
    degraded,
    movedTo,
  };
}

/** Why an entry was not tried in its time, when nothing went wrong; `next` is what could be sent next. */
export function untriedFor(next: Next | undefined): string {
  if (!next) return 'another process is delivering';
  if (next.wait <= 0) return 'there was no time to try';
  if (next.why === 'backoff') return 'an earlier message of the same deploy waits for its next try';
  const seconds = `${Math.ceil(next.wait / 1000)} s`;
  return next.why === 'rate'
    ? `the rate limit allows the next message in ${seconds}`
    : `the next try is in ${seconds}`;
}
