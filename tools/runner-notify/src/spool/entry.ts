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

/** One event for one channel, in `spool/notify/<id>.<channel>.json`. Times are ISO 8601 UTC. */
export interface QueueEntry {
  readonly version: 1;
  readonly channel: DestinationName;
  readonly event: LogRecord;
  readonly queued_at: string;
  /** How many of its messages were delivered: a failure with a long error has two. */
  readonly sent: number;
  /** The recipients that have not got the next message; null: all. */
  readonly left: readonly string[] | null;
  /** Failed attempts of the next message. */
  readonly attempts: number;
  readonly first_at: string | null;
  /** Not before; null: now. */
  readonly next_at: string | null;
  /** The last problem, or why it was given up. */
  readonly problem: ServiceProblem | null;
  /** When a request without a known answer began. */
  readonly attempting: string | null;
  /** A message was sent again although the first may have arrived. */
  readonly maybe_duplicate: boolean;
  /** Place of its record in the audit log if it must not be sent twice; null: it may. */
  readonly once: string | null;
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
  return {
    version: 1,
    channel,
    event,
    queued_at: now.toISOString(),
    sent: 0,
    left: null,
    attempts: 0,
    first_at: null,
    next_at: null,
    problem: null,
    attempting: null,
    maybe_duplicate: false,
    once,
  };
}

/** A secret may be split by escapes: then the text is stored without them. */
function redacted(text: string, redact: (text: string) => string): string {
  const clean = cleanText(text);
  const safe = redact(clean);
  return safe === clean ? redact(text) : safe;
}

/** Reads an entry; undefined when the file is not one. */
export function parseEntry(bytes: Uint8Array, channel: DestinationName): QueueEntry | undefined {
  const value: Partial<Record<keyof QueueEntry, unknown>> =
    jsonObject(Buffer.from(bytes).toString('utf8')) ?? {};
  const { event } = value;
  if (value.version !== 1 || value.channel !== channel || !isObject(event)) return undefined;
  const count = (number: unknown) =>
    Number.isSafeInteger(number) && (number as number) >= 0 ? (number as number) : 0;
  const time = (text: unknown) =>
    typeof text === 'string' && !Number.isNaN(Date.parse(text)) ? text : null;
  return {
    version: 1,
    channel,
    event,
    queued_at: time(value.queued_at) ?? new Date(0).toISOString(),
    sent: count(value.sent),
    left: Array.isArray(value.left) ? value.left.map(String) : null,
    attempts: count(value.attempts),
    first_at: time(value.first_at),
    next_at: time(value.next_at),
    problem: problemIn(value.problem),
    attempting: time(value.attempting),
    maybe_duplicate: value.maybe_duplicate === true,
    once: typeof value.once === 'string' ? value.once : null,
  };
}

/** Why a message was given up without a request. */
export function spoolProblem(code: string, description: string, hint?: string): ServiceProblem {
  return { method: 'spool', http_status: null, code, description, retryable: false, hint };
}

/** Reads a problem from a file of the spool. */
export function problemIn(value: unknown): ServiceProblem | null {
  if (value === null || typeof value !== 'object') return null;
  const { method, http_status, code, description, retryable, hint } =
    value as Partial<ServiceProblem>;
  return {
    method: String(method ?? ''),
    http_status: typeof http_status === 'number' ? http_status : null,
    code: typeof code === 'number' ? code : String(code ?? ''),
    description: String(description ?? ''),
    retryable: retryable === true,
    hint: typeof hint === 'string' ? hint : undefined,
  };
}
