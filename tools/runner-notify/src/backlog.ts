/** What waits for a channel, read from the spool as it stands; for `runner notify status`. */

import { Failure } from '@runner/common/failure';
import { readIfThere } from '@runner/common/files';
import type { Paths } from '@runner/common/paths';
import type { ChannelName } from '@runner/common/settings';
import { type Fields, fieldsOf, wordOf } from './channels/fields.ts';
import { openSpool, stateFile } from './spool/spool.ts';

/** Larger than any state, in bytes. */
const FILE_MAX = 65_536;

export interface Backlog {
  /** Messages that wait to be sent. */
  readonly queued: number;
  /** Messages that were given up. */
  readonly dead: number;
  /** ISO 8601 UTC; null when nothing has been delivered yet. */
  readonly last_success: string | null;
  /** The last thing that went wrong, with the time at which it did, as the spool has it. */
  readonly last_error: Fields | null;
  /** Nothing is sent until somebody mends the destination. */
  readonly stopped: boolean;
  /** ISO 8601 UTC: the service asked to be left alone until then. */
  readonly waits_until: string | null;
}

/** Reads what it can: a state that is damaged, or about other credentials, says nothing. */
export function backlogOf(paths: Paths, channel: ChannelName, digest: string, now: Date): Backlog {
  const spool = openSpool(paths);
  const state = stateOf(stateFile(paths, channel), digest);
  const until = timeOf(state.until);
  return {
    queued: spool.names(channel).length,
    dead: spool.names(channel, 'dead').length,
    last_success: timeOf(state.last_success),
    last_error: state.last_error ? fieldsOf(state.last_error) : null,
    stopped: Boolean(state.stopped),
    waits_until: until !== null && Date.parse(until) > now.getTime() ? until : null,
  };
}

function readObject(path: string): Fields {
  try {
    return fieldsOf(JSON.parse(readIfThere(path, FILE_MAX)?.toString('utf8') ?? '{}'));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof Failure) return {};
    throw error;
  }
}

function stateOf(path: string, digest: string): Fields {
  const state = readObject(path);
  return state.destination === digest ? state : {};
}

/** Takes milliseconds as well as ISO 8601. */
function timeOf(value: unknown): string | null {
  const time = typeof value === 'number' ? value : Date.parse(wordOf(value));
  return Number.isFinite(time) && Math.abs(time) < 8.64e15 ? new Date(time).toISOString() : null;
}
