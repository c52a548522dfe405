/**
 * A message that waits: the event, not the rendered text, so that a token that is changed or a
 * template that is mended later still works. It holds no secret.
 */

import type { LogRecord } from '@runner/common/audit/events';
import type { ChannelName } from '@runner/common/config/settings';
import { cleanText } from '@runner/common/text/plain';
import type { Problem } from '../channels/channel.ts';

/** One event for one channel, as it lies in `spool/notify/<id>.<channel>.json`. Times are ISO 8601 UTC. */
export interface Entry {
  readonly version: 1;
  readonly channel: ChannelName;
  readonly event: LogRecord;
  readonly queued_at: string;
  /** How many of its messages were delivered: a failure with a long error has two. */
  readonly sent: number;
  /** How often the next message was tried in vain. */
  readonly attempts: number;
  readonly first_at: string | null;
  /** Not to be tried before; null: it is due. */
  readonly next_at: string | null;
  /** What went wrong last, or why it was given up. */
  readonly problem: Problem | null;
  /** When the request began whose answer is not known. */
  readonly attempting: string | null;
  /** A message may have arrived although no answer was seen, and was sent again. */
  readonly maybe_duplicate: boolean;
}

/** A new entry. `event` is stored without secrets, and of its fields only those that are plain values. */
export function newEntry(
  channel: ChannelName,
  event: LogRecord,
  now: Date,
  redact: (text: string) => string,
): Entry {
  const plain = Object.entries(event).flatMap(([field, value]) => {
    if (typeof value === 'string') return [[field, scrubbed(value, redact)]];
    return typeof value === 'number' || typeof value === 'boolean' ? [[field, value]] : [];
  });
  return {
    version: 1,
    channel,
    event: Object.fromEntries(plain),
    queued_at: now.toISOString(),
    sent: 0,
    attempts: 0,
    first_at: null,
    next_at: null,
    problem: null,
    attempting: null,
    maybe_duplicate: false,
  };
}

/** A secret may be hidden behind escapes: then the text is stored without them. */
function scrubbed(text: string, redact: (text: string) => string): string {
  const clean = cleanText(text);
  const safe = redact(clean);
  return safe === clean ? redact(text) : safe;
}

/** Reads an entry; undefined when the file is not one. */
export function parseEntry(bytes: Uint8Array, channel: ChannelName): Entry | undefined {
  let value: Partial<Record<keyof Entry, unknown>>;
  try {
    value = JSON.parse(Buffer.from(bytes).toString('utf8')) ?? {};
  } catch {
    return undefined;
  }
  const { event } = value;
  if (value.version !== 1 || value.channel !== channel) return undefined;
  if (event === null || typeof event !== 'object' || Array.isArray(event)) return undefined;
  const count = (number: unknown) =>
    Number.isSafeInteger(number) && (number as number) >= 0 ? (number as number) : 0;
  const time = (text: unknown) =>
    typeof text === 'string' && !Number.isNaN(Date.parse(text)) ? text : null;
  return {
    version: 1,
    channel,
    event: event as LogRecord,
    queued_at: time(value.queued_at) ?? new Date(0).toISOString(),
    sent: count(value.sent),
    attempts: count(value.attempts),
    first_at: time(value.first_at),
    next_at: time(value.next_at),
    problem: problemIn(value.problem),
    attempting: time(value.attempting),
    maybe_duplicate: value.maybe_duplicate === true,
  };
}

/** Reads a problem of a file of the spool. */
export function problemIn(value: unknown): Problem | null {
  if (value === null || typeof value !== 'object') return null;
  const { method, http_status, code, description, retryable, hint } = value as Partial<Problem>;
  return {
    method: String(method ?? ''),
    http_status: typeof http_status === 'number' ? http_status : null,
    code: typeof code === 'number' ? code : String(code ?? ''),
    description: String(description ?? ''),
    retryable: retryable === true,
    hint: typeof hint === 'string' ? hint : undefined,
  };
}
