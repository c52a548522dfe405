/** When a message is tried again after a temporary problem. */
import { isTelemetry } from '@runner/common/config/telemetry-schema';
import type { SendOutcome, ServiceProblem } from '../service/contract.ts';
import type { QueueEntry } from '../spool/entry.ts';
import type { Clock } from './clock.ts';

/** A message is given up after a day, a trace after a month, in milliseconds, and at least this many attempts. */
const AGE_MAX = 86_400_000;
const RECORD_AGE_MAX = 30 * AGE_MAX;
const ATTEMPTS_MIN = 8;

/** First pause after a temporary problem, in milliseconds; it doubles up to PAUSE_MAX. */
const PAUSE = 1_000;
/** The longest, in milliseconds. */
export const PAUSE_MAX = 60_000;
const PAUSE_MIN = 100;

/** Doubles with each failure; random, so that several senders do not return together. */
export function pauseAfter(failures: number, chance: number): number {
  const most = Math.min(PAUSE * 2 ** (failures - 1), PAUSE_MAX);
  return Math.max(PAUSE_MIN, Math.round(most * chance));
}

/** An entry after a temporary problem; undefined when it is too old to be tried again. */
export function laterEntry(
  entry: QueueEntry,
  outcome: Extract<SendOutcome, { class: 'wait' | 'retry' }>,
  clock: Clock,
): QueueEntry | undefined {
  const { problem } = outcome;
  const attempts = entry.attempts + 1;
  const age = clock.now() - Date.parse(entry.queued_at);
  const most = isTelemetry(entry.channel) ? RECORD_AGE_MAX : AGE_MAX;
  if (age > most && attempts >= ATTEMPTS_MIN) return undefined;
  if (outcome.class === 'wait') return { ...entry, attempts, problem, next_at: null };
  const next = clock.now() + pauseAfter(attempts, clock.random());
  return {
    ...entry,
    attempts,
    problem,
    left: outcome.left ?? entry.left,
    next_at: new Date(next).toISOString(),
    maybe_duplicate: entry.maybe_duplicate || mayHaveArrived(problem),
  };
}

/** Errors of a request that was never sent: no connection was made. */
const NEVER_SENT =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_|CERT_|DEPTH_|SELF_|UNABLE_|EPROTO)/;

/** Whether the service may have accepted a message without confirming it. */
function mayHaveArrived({ http_status: status, code }: ServiceProblem): boolean {
  // A number is the answer of a mail server, which refused.
  if (status === null) return typeof code === 'string' && !NEVER_SENT.test(code);
  return status < 300 || status === 408 || status === 502 || status === 504;
}
