import { randomBytes } from 'node:crypto';
import { rateWindow } from './rate-window.ts';

/** Messages of one webhook per interval in milliseconds, announced in headers. */
const LIMIT = 5;
const WINDOW = 2_000;
/** Messages of all webhooks of a channel per interval in milliseconds, not announced. */
const CHANNEL_LIMIT = 30;
const CHANNEL_WINDOW = 60_000;

/**
 * The two windows of a webhook, in a time that runs `speed` times as fast. Without `speed` nothing
 * is enforced, and the headers say that there is room.
 */
export function webhookRates(speed: number | undefined, clock: () => number) {
  const own = rateWindow(LIMIT, WINDOW / (speed ?? 1));
  const channel = rateWindow(CHANNEL_LIMIT, CHANNEL_WINDOW / (speed ?? 1));
  const bucket = randomBytes(8).toString('hex');
  return {
    /** Other webhooks of the channel have sent this number of messages now. */
    occupy(count: number): void {
      for (let n = 0; n < count; n += 1) channel.add(clock());
    },
    /** Seconds to wait; 0 when the message was counted. */
    take(): { seconds: number; scope: 'user' | 'shared' } {
      const now = clock();
      const [first, second] = [own.wait(now), channel.wait(now)];
      if (speed !== undefined && Math.max(first, second) > 0) {
        const seconds = Math.ceil(Math.max(first, second)) / 1000;
        return { seconds, scope: second > first ? 'shared' : 'user' };
      }
      own.add(now);
      channel.add(now);
      return { seconds: 0, scope: 'user' };
    },
    /** The channel's window is not announced. */
    headers(): Record<string, string> {
      const now = clock();
      const remaining = speed === undefined ? LIMIT - 1 : own.remaining(now);
      const seconds = (own.wait(now) || WINDOW / (speed ?? 1)) / 1000;
      return {
        'X-RateLimit-Bucket': bucket,
        'X-RateLimit-Limit': String(LIMIT),
        'X-RateLimit-Remaining': String(remaining),
        'X-RateLimit-Reset': (Date.now() / 1000 + seconds).toFixed(3),
        'X-RateLimit-Reset-After': seconds.toFixed(3),
      };
    },
  };
}
