/** A line of the audit log as it is read: leniently. */
import { type JsonObject, jsonObject } from '../text/json.ts';

/** A record as any writer may have written it. */
export type LogRecord = JsonObject;

/** Reads one line of the log; undefined when it is not a JSON object, or is nested too deeply. */
export function readRecord(line: string | Uint8Array): LogRecord | undefined {
  return jsonObject(typeof line === 'string' ? line : Buffer.from(line).toString('utf8'));
}

/** A record's kind, in either naming. */
export function kindOf(record: LogRecord): unknown {
  return record.event_type ?? record.event;
}

/** Whether the record is of one of these kinds, separated by commas. */
export function isOfKind(record: LogRecord, kinds: string): boolean {
  return kinds.split(',').some((kind) => kind === kindOf(record));
}

/** A record's app, in either naming. */
export function projectOf(record: LogRecord): unknown {
  return record.project ?? record.app;
}

/** Two names for the same field. */
const TWINS = [
  ['event_type', 'event'],
  ['project', 'app'],
] as const;

/** What the two names of a field disagree in, in words. */
export function disagreementsIn(record: LogRecord): string[] {
  return TWINS.flatMap(([name, other]) => {
    const [one, two] = [record[name], record[other]];
    if (one === undefined || two === undefined || one === two) return [];
    return [`the record has two different values in ${name} and ${other}`];
  });
}

/** A record as JSON output has it, with its kind and its app under both names. */
export function withBothNames<T extends LogRecord>(record: T): T {
  const [kind, app] = [kindOf(record), projectOf(record)];
  const names = { event_type: kind, project: app, event: kind, app };
  const missing = Object.entries(names).filter(
    ([name, value]) => value !== undefined && record[name] === undefined,
  );
  return missing.length === 0 ? record : { ...record, ...Object.fromEntries(missing) };
}

/** All instances of the event of a record; as of 0.1.0, one record names them all. */
export function instancesOf(record: LogRecord): string[] {
  const { instances } = record;
  if (Array.isArray(instances) && instances.every((each) => typeof each === 'string'))
    return instances;
  return (textOf(record, 'instance') || 'default').split(',');
}

/** Whether another tool made the record, which need not record whole deploys. */
export function isForeign(record: LogRecord): boolean {
  return textOf(record, 'source') !== '';
}

/** Whether a rollback only started the active version again. */
export function isRestarted(record: LogRecord): boolean {
  const from = textOf(record, 'from_version');
  const isSame = from === textOf(record, 'version') && record.from_commit === record.commit;
  return isSame && from !== '';
}

/** A field of a record as text; empty if it is missing or not text. */
export function textOf(record: LogRecord, field: string): string {
  const value = record[field];
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

/** The limit of the options of `audit emit`; longer before a time, no Date may be valid. */
const MS_MAX = 1e15;

/** A field in milliseconds; undefined if it is not a length of time. */
export function millisecondsOf(record: LogRecord, name: string): number | undefined {
  const value = record[name];
  return typeof value === 'number' && value >= 0 && value <= MS_MAX ? value : undefined;
}
