/** The deploy events: written strictly, read leniently. */
import type { Changes } from '../apps/state.ts';
import { Failure } from '../foundation/failure.ts';
import { isAppName } from '../foundation/names.ts';
import { isObject, type JsonObject, jsonObject } from '../text/json.ts';
import { isUsualTime, timeOfIso } from '../text/time.ts';

/** The kinds of a deploy, in its order. */
const DEPLOY_EVENTS = [
  'DeployStarted',
  'DeploySuccess',
  'DeployFailure',
  'RollbackSuccess',
] as const;
/** Changes in the state of an app; they belong to no deploy. */
const STATE_EVENTS = [
  'AppDown',
  'AppUp',
  'CheckRecovered',
  'DeployWaiting',
  'TagChanged',
  'TokenEnding',
  'TokenRenewed',
] as const;
/** What operators did with an app; not announced. */
export const OPERATOR_EVENTS = ['AppStarted', 'AppStopped', 'AppRestarted'] as const;
/** What an operator did with an app. */
export type OperatorEvent = (typeof OPERATOR_EVENTS)[number];
/** The kinds that are announced. */
export const EVENT_TYPES = [...DEPLOY_EVENTS, ...STATE_EVENTS] as const;
/** A kind of event that is announced. */
export type EventType = (typeof EVENT_TYPES)[number];
/** A change in the state of an app. */
export type StateEvent = (typeof STATE_EVENTS)[number];

/** Whether a kind is a change in the state of an app. */
export function isStateEvent(kind: EventType): kind is StateEvent {
  return STATE_EVENTS.includes(kind as StateEvent);
}

/** One line of the audit log. Unknown fields are kept. */
export interface DeployEvent {
  /** ISO 8601 UTC with milliseconds. */
  timestamp: string;
  event_type: EventType | OperatorEvent | 'GuardBypassed';
  project: string;
  instance: string;
  version: string;
  /** 8 characters, the same in all events and messages of one deploy; null without a deploy. */
  deploy_id: string | null;
  commit?: string;
  /** What triggered it: `manual`, `fetch`. */
  trigger?: string;
  previous_version?: string;
  duration_ms?: number;
  domain?: string;
  /** All instances of the event, each of which has a record of its own; absent as of 0.1.0. */
  instances?: string[];
  /** Of a token: all apps that share it, if there are several. */
  projects?: string[];
  /** Of a failure at one of several instances. */
  failed_instance?: string;
  /** Who began it: the user, before sudo; `timer`. */
  user?: string;
  /** First line of the commit's message. */
  subject?: string;
  /** Name of the commit's author. */
  author?: string;
  /** Of DeployStarted and DeploySuccess: what the deploy brings. */
  changes?: Changes;
  /** At the end: longest time without an answer to a prober, in ms. */
  gap_ms?: number;
  /** When the commit was made, ISO 8601 UTC. */
  committed_at?: string;
  /** At the end: how long the stages took. */
  steps?: { stage: string; ms: number }[];
  /** Of a failure: an operator ended the deploy. */
  interrupted?: boolean;
  error?: string;
  /** Of a failure: the lines of the output that explain it, at most 800 code points. */
  cause?: string;
  /** True if `error` was too long and lost its middle. */
  truncated?: boolean;
  stage?: string;
  /** Path of the deploy's log under the root. */
  log?: string;
  reason?: string;
  from_version?: string;
  /** Of a rollback by hand: the commit that was left. */
  from_commit?: string;
  /** True if it had to wait until the log was writable. */
  late?: boolean;
  /** Place in the chain; the log's writer adds it. */
  seq?: number;
  /** Hash of what stands before it in the log. */
  prev?: string;
  [field: string]: unknown;
}

/** Longest error text of a record, in bytes of UTF-8. */
export const ERROR_MAX = 65_536;

const TEXT_FIELDS = [
  'commit',
  'trigger',
  'previous_version',
  'domain',
  'error',
  'stage',
  'log',
  'reason',
  'from_version',
  'from_commit',
] as const;

/** Longest name or version. */
const SHORT_MAX = 200;

/** The clock for a timestamp, and the randomness for a deploy_id. */
export interface Completion {
  now(): Date;
  random(): number;
}

/** A new deploy_id: 8 hexadecimal characters. */
export function newDeployId(random: () => number): string {
  return Math.floor(random() * 2 ** 32)
    .toString(16)
    .padStart(8, '0');
}

/**
 * Checks an event and adds a missing `timestamp`, `deploy_id` or `instance`. Accepts `event`/`app` as
 * well as `event_type`/`project`. Throws `event_invalid`.
 */
export function completeEvent(input: unknown, completion: Completion): DeployEvent {
  if (!isObject(input)) throw invalid('is not a JSON object');
  // Its place in a chain belongs to the log it came from.
  const { event, app, seq: _seq, prev: _prev, ...fields } = input;
  const kind = oneName(fields.event_type, event, 'event_type', 'event');
  const isOperator = OPERATOR_EVENTS.includes(kind as OperatorEvent);
  if (!isOperator && !EVENT_TYPES.includes(kind as EventType)) {
    throw invalid(`needs an event_type that is one of ${EVENT_TYPES.join(', ')}`);
  }
  const project = shortText(oneName(fields.project, app, 'project', 'app'), 'project');
  if (!isAppName(project)) throw invalid('needs a project that is an app name');
  const checked = {
    timestamp: timestampOf(fields.timestamp, () => completion.now()),
    event_type: kind as EventType,
    project,
    instance: fields.instance === undefined ? 'default' : shortText(fields.instance, 'instance'),
    version: shortText(fields.version, 'version'),
    deploy_id: isOperator ? null : deployIdOf(kind as EventType, fields.deploy_id, completion),
  };
  // Twice: the first gives the order, the second the values.
  const done: DeployEvent = { ...checked, ...fields, ...checked };
  for (const field in done) if (done[field] === undefined) delete done[field];
  for (const field of TEXT_FIELDS) {
    const value = done[field];
    if (value !== undefined && typeof value !== 'string') throw invalid(`needs a text in ${field}`);
  }
  const took = done.duration_ms;
  if (took !== undefined && !(typeof took === 'number' && Number.isFinite(took) && took >= 0)) {
    throw invalid('needs a number of milliseconds in duration_ms');
  }
  return limitError(done);
}

function invalid(why: string): Failure {
  return new Failure('event_invalid', `the event ${why}`);
}

/** Both names of a field may be given only if they agree. */
function oneName(value: unknown, other: unknown, name: string, otherName: string): unknown {
  if (value !== undefined && other !== undefined && value !== other) {
    throw invalid(`has two different values in ${name} and ${otherName}`);
  }
  return value ?? other;
}

function shortText(value: unknown, field: string): string {
  if (typeof value !== 'string' || value === '') throw invalid(`needs a text in ${field}`);
  if (value.length > SHORT_MAX) throw invalid(`has more than ${SHORT_MAX} characters in ${field}`);
  return value.toWellFormed();
}

function timestampOf(value: unknown, now: () => Date): string {
  if (value === undefined) return now().toISOString();
  if (typeof value === 'string' && isUsualTime(value)) return value;
  // Requires a time of day and a zone.
  const zoned = typeof value === 'string' && /T.*(?:Z|[+-]\d\d:?\d\d)$/.test(value);
  const time = zoned ? timeOfIso(value) : Number.NaN;
  if (Number.isNaN(time)) throw invalid('needs a timestamp in ISO 8601 with a zone');
  return new Date(time).toISOString();
}

function deployIdOf(kind: EventType, value: unknown, completion: Completion): string | null {
  if (isStateEvent(kind) && (value === undefined || value === null)) return null;
  if (value === undefined) return newDeployId(completion.random);
  if (typeof value === 'string' && /^[A-Za-z0-9_-]{8}$/.test(value)) return value;
  throw invalid('needs a deploy_id of 8 letters or digits');
}

/** Room for the line with the number of omitted bytes. */
const NOTE_MAX = 48;

/** Keeps head and tail of a long error: the cause is seldom in the middle. */
function limitError(event: DeployEvent): DeployEvent {
  if (event.error === undefined) return event;
  const error = event.error.toWellFormed();
  const bytes = Buffer.from(error, 'utf8');
  if (bytes.length <= ERROR_MAX) return { ...event, error };
  let end = Math.floor((ERROR_MAX - NOTE_MAX) / 3);
  let start = bytes.length - (ERROR_MAX - NOTE_MAX - end);
  // Bytes 10xxxxxx continue a character of UTF-8, which must not be split.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  while (((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  const note = `\n… ${start - end} bytes left out …\n`;
  const text = `${bytes.toString('utf8', 0, end)}${note}${bytes.toString('utf8', start)}`;
  return { ...event, error: text, truncated: true };
}

/** A record as any writer may have written it. */
export type LogRecord = JsonObject;

/** Reads one line of the log; undefined when it is not a JSON object. */
export function readRecord(line: string | Uint8Array): LogRecord | undefined {
  return jsonObject(typeof line === 'string' ? line : Buffer.from(line).toString('utf8'));
}

/** A record's kind, in either naming. */
export function kindOf(record: LogRecord): unknown {
  return record.event_type ?? record.event;
}

/** A record's app, in either naming. */
export function projectOf(record: LogRecord): unknown {
  return record.project ?? record.app;
}

/** All instances of the event of a record; as of 0.1.0, one record names them all. */
export function instancesOf(record: LogRecord): string[] {
  const { instances } = record;
  if (Array.isArray(instances) && instances.every((each) => typeof each === 'string'))
    return instances;
  return (textOf(record, 'instance') || 'default').split(',');
}

/** A field of a record as text; empty if it is missing or not text. */
export function textOf(record: LogRecord, field: string): string {
  const value = record[field];
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}
