/** Trouble that passes: how long to wait after it, and whether the message arrived all the same. */
import type { Problem } from '../channels/channel.ts';

/** First pause after trouble that passes, in milliseconds; it doubles up to PAUSE_MAX. */
const PAUSE = 1_000;
/** The longest, in milliseconds. */
export const PAUSE_MAX = 60_000;
const PAUSE_MIN = 100;

/** Doubles with each failure, and is left to chance, so that several senders do not return together. */
export function pauseAfter(failures: number, chance: number): number {
  const most = Math.min(PAUSE * 2 ** (failures - 1), PAUSE_MAX);
  return Math.max(PAUSE_MIN, Math.round(most * chance));
}

/** Errors of a request that has not left: nothing was connected. */
const NEVER_LEFT =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_|CERT_|DEPTH_|SELF_|UNABLE_|EPROTO)/;

/** Whether the service may have taken a message although it did not say so. */
export function mayHaveArrived({ http_status: status, code }: Problem): boolean {
  if (status === null) return !NEVER_LEFT.test(String(code));
  return status < 300 || status === 408 || status === 502 || status === 504;
}
