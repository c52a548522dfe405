/**
 * A waiting message: the event, not the rendered text, so that a token or template that is fixed later
 * still works. It holds no secret.
 */

import type { LogRecord } from '@runner/common/audit/record';
import type { DestinationName } from '@runner/common/config/channels';
import { isObject, jsonObject } from '@runner/common/text/json';
import { cleanText } from '@runner/common/text/plain';
import type { ServiceProblem } from '../service/contract.ts';
import type { EntryName } from './names.ts';
import { countIn, EPOCH, problemIn, readFields, type StoredFields, timeIn } from './stored.ts';

/** The fields of an entry beside its channel and event, each as in a new entry when it cannot be read. Times are ISO 8601 UTC. */
const FIELDS = {
  queued_at: (value: unknown) => timeIn(value) ?? EPOCH,
  /** How many of its messages were delivered: a failure with a long error has two. */
  sent: countIn,
  /** The recipients that have not got the next message; null: all. */
  left: (value: unknown) =>
    Array.isArray(value) ? (value.map(String) as readonly string[]) : null,
  /** Failed attempts of the next message. */
  attempts: countIn,
  first_at: timeIn,
  /** Not before; null: now. */
  next_at: timeIn,
  /** The last problem, or why it was given up. */
  problem: problemIn,
  /** When a request without a known answer began. */
  attempting: timeIn,
  /** A message was sent again although the first may have arrived. */
  maybe_duplicate: (value: unknown) => value === true,
  /** Place of its record in the audit log if it must not be sent twice; null: it may. */
  once: (value: unknown) => (typeof value === 'string' ? value : null),
};

/** One event for one channel, in `spool/notify/<id>.<channel>.json`. */
export interface QueueEntry extends StoredFields<typeof FIELDS> {
  readonly version: 1;
  readonly channel: DestinationName;
  readonly event: LogRecord;
}

/** Fields with a list or an object that messages or traces show. */
const DEEP = ['changes', 'steps'];

/** An event as it is stored: without secrets, and of its fields those with plain values and some others. */
export function storedEvent(event: LogRecord, redact: (text: string) => string): LogRecord {
  const plain = Object.entries(event).flatMap(([field, value]) => {
    if (typeof value === 'string') return [[field, redacted(value, redact)]];
    if (DEEP.includes(field)) return [[field, inside(value, redact)]];
    return typeof value === 'number' || typeof value === 'boolean' ? [[field, value]] : [];
  });
  return Object.fromEntries(plain);
}

/** Levels of a value that are kept: an object with lists of texts. */
const DEPTH = 3;

function inside(value: unknown, redact: (text: string) => string, depth = DEPTH): unknown {
  if (typeof value === 'string') return redacted(value, redact);
  if (value === null || typeof value !== 'object') return value;
  if (depth === 0) return null;
  if (Array.isArray(value)) return value.map((each) => inside(each, redact, depth - 1));
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([key, each]) => [key, inside(each, redact, depth - 1)]));
}

/** Identifies a request of an entry among those that were answered. */
export function requestOf(name: EntryName, { once, sent }: QueueEntry): string {
  return `${once ?? name}#${sent}`;
}

export function newEntry(
  channel: DestinationName,
  event: LogRecord,
  now: Date,
  once: string | null = null,
): QueueEntry {
  const fields = readFields(FIELDS, { queued_at: now.toISOString(), once });
  return { version: 1, channel, event, ...fields };
}

/** A secret may be split by escapes: then the text is stored without them. */
function redacted(text: string, redact: (text: string) => string): string {
  const clean = cleanText(text);
  const safe = redact(clean);
  return safe === clean ? redact(text) : safe;
}

/** Reads an entry; undefined when the file is not one. */
export function parseEntry(bytes: Uint8Array, channel: DestinationName): QueueEntry | undefined {
  const value = jsonObject(Buffer.from(bytes).toString('utf8')) ?? {};
  const { version, event } = value;
  if (version !== 1 || value.channel !== channel || !isObject(event)) return undefined;
  return { version, channel, event, ...readFields(FIELDS, value) };
}

/** Why a message was given up without a request. */
export function spoolProblem(code: string, description: string, hint?: string): ServiceProblem {
  return { method: 'spool', http_status: null, code, description, retryable: false, hint };
}
