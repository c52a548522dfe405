/** What a test message has shown is kept for `status`, `send` and `flush`. */

import type { ChannelName } from '@runner/common/config/settings';
import { Failure } from '@runner/common/foundation/failure';
import type { Problem } from './channels/channel.ts';
import type { Credentials } from './channels/service.ts';
import { destinationDigest } from './credentials.ts';
import { NO_TROUBLE, readState, type State, writeState } from './spool/destination-state.ts';
import { type Locking, waitForChannel } from './spool/spool.ts';

/** Longest wait for a process that is delivering, in seconds; it learns the same by itself. */
const LOCK_WAIT = 2;

/**
 * `problem` is null when a test message arrived, undefined when none was sent; unless there is one,
 * messages are sent again to a destination that was stopped. That it cannot be kept is no failure
 * of the command that tested.
 */
export function keepTrial(
  by: Locking,
  channel: ChannelName,
  credentials: Credentials,
  problem: Problem | null | undefined,
): void {
  try {
    const lock = waitForChannel(by, channel, LOCK_WAIT);
    try {
      const state = readState(by.paths, channel, destinationDigest(credentials, channel));
      const next = tried(state, by.io.now().toISOString(), problem);
      if (JSON.stringify(next) !== JSON.stringify(state)) writeState(by.paths, channel, next);
    } finally {
      lock.release();
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  }
}

function tried(state: State, at: string, problem: Problem | null | undefined): State {
  if (problem) return { ...state, last_error: { at, ...problem } };
  const mended = { ...state, stopped: null, trouble: NO_TROUBLE };
  return problem === null ? { ...mended, last_success: at } : mended;
}
