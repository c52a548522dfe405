/** A line of a server's log that can be printed. */
import { type LogRecord, readRecord } from '@runner/common/audit/record';

/** How deep a record may be nested; those of runner have three levels. */
const DEPTH_MAX = 100;

/** The record in a line; undefined if it is not one, or is nested too deeply to be written again. */
export function recordIn(line: string): LogRecord | undefined {
  const record = readRecord(line);
  return record && isFlat(record) ? record : undefined;
}

/** Looks level by level: a recursion would end with the stack. */
function isFlat(record: LogRecord): boolean {
  let level: unknown[] = [record];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > DEPTH_MAX) return false;
    level = level.flatMap((each) =>
      typeof each === 'object' && each !== null ? Object.values(each) : [],
    );
  }
  return true;
}
