/** Filters and reads records of the log. */

import type { Unread } from '@runner/common/audit/files';
import {
  isOfKind,
  type LogRecord,
  projectOf,
  readRecord,
  textOf,
} from '@runner/common/audit/record';
import { escapedNameAt, linesBackward } from '@runner/common/files/lines-backward';
import type { SplitLine } from '@runner/common/files/lines-forward';
import { timeOfIso } from '@runner/common/text/time';
import { isBlank, linesOf, type OpenLog } from './lines.ts';

/** An undefined field matches every record. */
export interface RecordFilter {
  readonly project?: string | undefined;
  readonly event?: string | undefined;
  readonly instance?: string | undefined;
  readonly deploy?: string | undefined;
  /** Milliseconds since 1970, both inclusive. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** Where records are read from. */
export interface Sources {
  readonly logs: readonly OpenLog[];
  /** Lines of events waiting to be appended, oldest first. */
  readonly waiting: readonly string[];
}

/** A record without a valid time is in no period. */
function matches(record: LogRecord, filter: RecordFilter): boolean {
  const { project, event, instance, deploy, since, until } = filter;
  if (project !== undefined && projectOf(record) !== project) return false;
  if (event !== undefined && !isOfKind(record, event)) return false;
  if (deploy !== undefined && record.deploy_id !== deploy) return false;
  if (instance !== undefined) {
    // The record of a deploy of several instances names them all: `blue,green`.
    const names = (textOf(record, 'instance') || 'default').split(',');
    if (!instance.split(',').every((name) => names.includes(name))) return false;
  }
  if (since === undefined && until === undefined) return true;
  const time = timeOfIso(textOf(record, 'timestamp'));
  return time >= (since ?? Number.NEGATIVE_INFINITY) && time <= (until ?? Number.POSITIVE_INFINITY);
}

/** Reads lines as records. Only lines that can match are parsed. */
export class RecordReader {
  readonly #filter: RecordFilter;
  readonly #unread: Unread;
  readonly #needles: readonly Buffer[];

  constructor(filter: RecordFilter, unread: Unread) {
    this.#filter = filter;
    this.#unread = unread;
    const names = [filter.project, filter.deploy].filter((name) => name !== undefined);
    this.#needles = names.map((name) => Buffer.from(JSON.stringify(name)));
  }

  /** Substring of every matching line; empty if the filter has no names. */
  get needle(): Buffer {
    return this.#needles[0] ?? Buffer.alloc(0);
  }

  tooLong(): void {
    this.#unread.lines += 1;
  }

  /** The record of a line that matches. */
  record(line: SplitLine): LogRecord | undefined {
    if (line === undefined) {
      this.tooLong();
      return undefined;
    }
    const isNamed = this.#needles.every((needle) => line.includes(needle));
    if (!isNamed && escapedNameAt(line) === -1) return undefined;
    const record = readRecord(line);
    if (record !== undefined) return matches(record, this.#filter) ? record : undefined;
    if (!isBlank(line)) this.#unread.lines += 1;
    return undefined;
  }

  records(lines: readonly SplitLine[]): LogRecord[] {
    return lines.map((line) => this.record(line)).filter((record) => record !== undefined);
  }
}

/** All matching records, one block of the log at a time. */
export async function* allRecords(
  { logs, waiting }: Sources,
  filter: RecordFilter,
  unread: Unread,
): AsyncGenerator<LogRecord[]> {
  const reader = new RecordReader(filter, unread);
  for (const log of logs) {
    for await (const lines of linesOf(log, (why) => unread.damaged(log.path, why)))
      yield reader.records(lines);
  }
  yield reader.records(waiting.map((line) => Buffer.from(line)));
}

/** The newest `count` matching records, oldest first. The log is read from its end. */
export async function newestRecords(
  { logs, waiting }: Sources,
  filter: RecordFilter,
  count: number,
  unread: Unread,
): Promise<LogRecord[]> {
  const reader = new RecordReader(filter, unread);
  const found = reader.records(waiting.map((line) => Buffer.from(line)));
  found.reverse().splice(count);
  for (const log of [...logs].reverse()) {
    const missing = count - found.length;
    if (missing <= 0) break;
    if (log.path.endsWith('.gz')) {
      found.push(...(await newestOfGzip(log, reader, missing, unread)));
      continue;
    }
    const tooLong = () => reader.tooLong();
    for (const { line } of linesBackward(log.fd, reader.needle, { size: log.end, tooLong })) {
      const record = reader.record(line);
      if (record && found.push(record) >= count) break;
    }
  }
  return found.reverse();
}

/** The newest first. A compressed file can only be read forwards. */
async function newestOfGzip(
  log: OpenLog,
  reader: RecordReader,
  count: number,
  unread: Unread,
): Promise<LogRecord[]> {
  let newest: LogRecord[] = [];
  for await (const lines of linesOf(log, (why) => unread.damaged(log.path, why))) {
    newest.push(...reader.records(lines));
    if (newest.length > count) newest = newest.slice(-count);
  }
  return newest.reverse();
}
