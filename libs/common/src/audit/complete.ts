/** An event as it is written: checked strictly, and completed. */
import { Failure } from '../foundation/failure.ts';
import { isAppName, isJobName } from '../foundation/names.ts';
import { isObject, rounded } from '../text/json.ts';
import { isUsualTime, timeOfIso } from '../text/time.ts';
import {
  type DeployEvent,
  EMITTED_TYPES,
  type EventType,
  isDeployId,
  isStateEvent,
  newDeployId,
  OPERATOR_EVENTS,
  type OperatorEvent,
} from './events.ts';

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
  'source',
] as const;

/** An event's place in a chain, which belongs to the log it came from. */
const LEFT_OUT = new Set(['seq', 'prev']);

/** Longest name or version. */
const SHORT_MAX = 200;

/** The clock for a timestamp, and the randomness for a deploy_id. */
export interface RecordDefaults {
  now(): Date;
  random(): number;
  /** Of another tool: `source` says so, and is `emit` if the tool is unnamed. */
  readonly isForeign?: boolean;
  /** Bytes that the middle of the error has already lost. */
  readonly omitted?: number;
}

/**
 * Checks an event and adds a missing `timestamp`, `deploy_id` or `instance`. Accepts `event`/`app` as
 * well as `event_type`/`project`. Throws `event_invalid`.
 */
export function completeEvent(input: unknown, completion: RecordDefaults): DeployEvent {
  if (!isObject(input)) throw invalid('is not a JSON object');
  const kind = oneName(input.event_type, input.event, 'event_type', 'event');
  const isOperator = OPERATOR_EVENTS.includes(kind as OperatorEvent);
  if (!EMITTED_TYPES.includes(kind as EventType | OperatorEvent)) {
    throw invalid(`needs an event_type that is one of ${EMITTED_TYPES.join(', ')}`);
  }
  const project = shortText(oneName(input.project, input.app, 'project', 'app'), 'project');
  if (!isAppName(project)) throw invalid('needs a project that is an app name');
  const { timestamp, instance, deploy_id: id, job } = input;
  if ((job !== undefined || /^Job/.test(String(kind))) && !isJobName(job))
    throw invalid('needs a job that is the name of one');
  // A field without a value is no field.
  const done: DeployEvent = {
    timestamp: timestampOf(timestamp, () => completion.now()),
    event_type: kind as EventType,
    project,
    instance: instance === undefined ? 'default' : shortText(instance, 'instance'),
    version: shortText(input.version, 'version'),
    deploy_id: isOperator ? null : deployIdOf(kind as EventType, id, completion),
    event: kind as EventType,
    app: project,
  };
  for (const field in input) {
    const value = input[field];
    if (value !== undefined && !Object.hasOwn(done, field) && !LEFT_OUT.has(field))
      setField(done, field, value);
  }
  if (completion.isForeign) done.source ||= 'emit';
  for (const field of TEXT_FIELDS) {
    const value = done[field];
    if (value !== undefined && typeof value !== 'string') throw invalid(`needs a text in ${field}`);
  }
  const took = rounded(done.duration_ms);
  if (took !== undefined) done.duration_ms = took;
  if (took !== undefined && !(typeof took === 'number' && Number.isFinite(took) && took >= 0)) {
    throw invalid('needs a number of milliseconds in duration_ms');
  }
  return limitError(done, completion.omitted ?? 0);
}

/** Assigned, `__proto__` would not become a field. */
function setField(event: DeployEvent, field: string, value: unknown): void {
  if (field !== '__proto__') event[field] = value;
  else Object.defineProperty(event, field, { value, enumerable: true });
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
  const utc = new Date(time).toISOString();
  // Years beyond 9999, or before 0, would be longer.
  if (utc.length !== 24) throw invalid('needs a timestamp of the years 0 to 9999 in UTC');
  return utc;
}

function deployIdOf(kind: EventType, value: unknown, completion: RecordDefaults): string | null {
  if (isStateEvent(kind) && (value === undefined || value === null)) return null;
  if (value === undefined) return newDeployId(completion.random);
  if (isDeployId(value)) return value;
  throw invalid('needs a deploy_id of 8 letters or digits');
}

/** Room for the line with the number of omitted bytes. */
const NOTE_MAX = 48;

/** Keeps head and tail of a long error: the cause is seldom in the middle. */
function limitError(event: DeployEvent, omitted: number): DeployEvent {
  if (event.error === undefined) return event;
  const error = event.error.toWellFormed();
  const bytes = Buffer.from(error, 'utf8');
  if (bytes.length <= ERROR_MAX)
    return { ...event, error, ...(omitted > 0 && { truncated: true }) };
  let end = Math.floor((ERROR_MAX - NOTE_MAX) / 3);
  let start = bytes.length - (ERROR_MAX - NOTE_MAX - end);
  // Bytes 10xxxxxx continue a character of UTF-8, which must not be split.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  while (((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  const note = `\n… ${start - end + omitted} bytes left out …\n`;
  const text = `${bytes.toString('utf8', 0, end)}${note}${bytes.toString('utf8', start)}`;
  return { ...event, error: text, truncated: true };
}
