/** What a test message has shown is kept for `status`, `send` and `flush`. */
import { Failure } from '@runner/common/failure';
import type { ChannelName } from '@runner/common/settings';
import type { Problem } from './channels/channel.ts';
import type { Credentials } from './channels/service.ts';
import { destinationDigest } from './credentials.ts';
import { recordTrial } from './spool/destination.ts';
import { type Locking, waitForChannel } from './spool/spool.ts';

/** Longest wait for a process that is delivering, in seconds; it learns the same by itself. */
const LOCK_WAIT = 2;

/**
 * `problem` is null when a test message arrived, undefined when none was sent. That it cannot be
 * kept is no failure of the command that tested.
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
      const digest = destinationDigest(credentials, channel);
      const now = () => by.io.now().getTime();
      recordTrial({ paths: by.paths, channel, digest, now }, problem);
    } finally {
      lock.release();
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  }
}
