/** The records on standard input, line by line as they arrive. */
import {
  EVENT_TYPES,
  type EventType,
  kindOf,
  type LogRecord,
  projectOf,
  readRecord,
} from '@runner/common/events';
import type { Source } from '@runner/common/io';

/** Longest line, in bytes: far above what `runner-audit emit` writes (64 KiB of error, escaped). */
const LINE_MAX = 4_194_304;

/** A record of one of the kinds that are announced. */
export interface Announceable {
  readonly kind: EventType;
  readonly project: string;
  readonly fields: LogRecord;
}

/** A line of the input, numbered from 1: a record, or what is wrong with the line. */
export type InputLine =
  | { readonly number: number; readonly record: Announceable }
  | { readonly number: number; readonly problem: string };

/** Reads records until the input ends; empty lines and records of other kinds are passed over. */
export function* linesOf(source: Source): Generator<InputLine> {
  let number = 0;
  for (const bytes of rawLines(source)) {
    number += 1;
    if (bytes === undefined) {
      yield { number, problem: `it is longer than ${LINE_MAX} bytes` };
      continue;
    }
    const text = bytes.toString('utf8').replace(/^\ufeff/, '');
    if (text.trim() === '') continue;
    const found = announceable(text);
    if (typeof found === 'string') yield { number, problem: found };
    else if (found) yield { number, record: found };
  }
}

function announceable(text: string): Announceable | string | undefined {
  const fields = readRecord(text);
  if (!fields) return 'it is not a JSON object';
  const kind = kindOf(fields);
  if (typeof kind !== 'string' || kind === '') return 'the record names no event_type';
  if (!EVENT_TYPES.includes(kind as EventType)) return undefined;
  const project = projectOf(fields);
  if (typeof project !== 'string' || project.trim() === '') return 'the record names no project';
  return { kind: kind as EventType, project, fields };
}

/** Lines as bytes, without their newline; undefined for one that is too long to be kept. */
function* rawLines(source: Source): Generator<Buffer | undefined> {
  let parts: Uint8Array[] = [];
  let size = 0;
  const finish = () => {
    const line = size > LINE_MAX ? undefined : Buffer.concat(parts);
    [parts, size] = [[], 0];
    return line;
  };
  for (let chunk = source.read(); chunk; chunk = source.read()) {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      parts.push(chunk.subarray(from, end));
      size += end - from;
      yield finish();
      from = end + 1;
    }
    size += chunk.length - from;
    if (size > LINE_MAX) parts = [];
    else if (from < chunk.length) parts.push(chunk.subarray(from));
  }
  if (size > 0) yield finish();
}
