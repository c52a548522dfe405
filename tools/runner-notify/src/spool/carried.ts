/** What came of an entry, for who waited for it. */
import type { Complaint, Problem } from '../channels/channel.ts';
import type { Ending } from '../courier.ts';
import type { Entry } from './entry.ts';
import { idOf } from './names.ts';

/** How far an entry came in the time it was waited for. */
export interface Carried {
  /** `failed`: it could not be queued, and was tried in vain. */
  readonly result: 'delivered' | 'queued' | 'rejected' | 'failed';
  readonly entry: Entry;
  /** When it lies in the spool. */
  readonly id: string | undefined;
  readonly problem: Problem | undefined;
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
    asked: undefined,
    degraded,
    movedTo,
  };
}
