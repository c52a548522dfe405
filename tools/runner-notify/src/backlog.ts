/** What waits for a channel, read from the spool as it stands; for `runner notify status`. */

import type { ChannelName } from '@runner/common/config/settings';
import type { Paths } from '@runner/common/foundation/paths';
import { readState, type State } from './spool/destination-state.ts';
import { openSpool } from './spool/spool.ts';

/** The queue of one channel in numbers. */
export interface Backlog {
  /** Messages that wait to be sent. */
  readonly queued: number;
  /** Messages that were given up. */
  readonly dead: number;
  /** ISO 8601 UTC; null when nothing has been delivered yet. */
  readonly last_success: string | null;
  /** The last thing that went wrong, with the time at which it did, as the spool has it. */
  readonly last_error: State['last_error'];
  /** Nothing is sent until somebody mends the destination. */
  readonly stopped: boolean;
  /** ISO 8601 UTC: the service asked to be left alone until then. */
  readonly waits_until: string | null;
}

/** Reads what it can: a state that is damaged, or about other credentials, says nothing. */
export function backlogOf(paths: Paths, channel: ChannelName, digest: string, now: Date): Backlog {
  const spool = openSpool(paths);
  const { until, last_success, last_error, stopped } = readState(paths, channel, digest);
  return {
    queued: spool.names(channel).length,
    dead: spool.names(channel, 'dead').length,
    last_success,
    last_error,
    stopped: stopped !== null,
    waits_until: until !== null && until > now.getTime() ? new Date(until).toISOString() : null,
  };
}
