/** Reads the records of a pipe, each once. */
import { createHash } from 'node:crypto';
import { linkOf } from '@runner/common/audit/chain';
import type { Unread } from '@runner/common/audit/files';
import { kindOf, type LogRecord, textOf } from '@runner/common/audit/record';
import { LineSplitter, type SplitLine } from '@runner/common/files/lines-forward';
import { Failure } from '@runner/common/foundation/failure';
import type { InputStream } from '@runner/common/foundation/io';
import { type RecordFilter, RecordReader } from './filter.ts';
import { isBlank } from './lines.ts';

/** With which some programs begin a text. */
const BOM = Buffer.from('\ufeff');

/**
 * The matching records, one JSON object per line. Throws `event_invalid` if no line is a record, and
 * `app_not_found` if none names the app.
 */
export function* pipedRecords(
  input: InputStream,
  filter: RecordFilter,
  unread: Unread,
): Generator<LogRecord[]> {
  const reader = new RecordReader(filter, unread);
  const splitter = new LineSplitter();
  const seen = new Set<string>();
  let lines = 0;
  let isAny = false;
  const fresh = (whole: SplitLine): LogRecord[] => {
    if (whole && isBlank(whole)) return [];
    lines += 1;
    const line =
      lines === 1 && whole?.subarray(0, BOM.length).equals(BOM)
        ? whole.subarray(BOM.length)
        : whole;
    const record = reader.record(line);
    if (!line || !record) return [];
    isAny ||= kindOf(record) !== undefined;
    const identity = identityOf(record, line);
    if (seen.has(identity)) return [];
    seen.add(identity);
    return [record];
  };
  for (let chunk = input.read(); chunk; chunk = input.read())
    yield splitter.take(Buffer.from(chunk)).flatMap(fresh);
  yield splitter.rest().flatMap(fresh);
  if (lines > 0 && !isAny) throw nothingIn(lines, filter);
}

/** A record of a log is known by its place there, even if a tool has added a field. */
function identityOf(record: LogRecord, line: Buffer): string {
  const link = linkOf(record);
  if (link) return `${link.seq} ${link.prev} ${textOf(record, 'timestamp')}`;
  return createHash('sha256').update(line).digest('base64');
}

function nothingIn(lines: number, { project }: RecordFilter): Failure {
  if (project !== undefined)
    return new Failure('app_not_found', `no record on standard input names the app '${project}'`);
  const what =
    lines === 1
      ? 'the line on standard input is not'
      : `none of the ${lines} lines on standard input is`;
  return new Failure(
    'event_invalid',
    `${what} a record: put one JSON object on a line, as jq -c does`,
  );
}
