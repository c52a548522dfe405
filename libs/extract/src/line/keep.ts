/** Lets go of the piece of the log that a kept line was cut from. */
import type { Row } from './row.ts';

/**
 * Code units of a kept line. A tenth of it is ever shown, so a secret that begins in that part is
 * whole when the line is redacted.
 */
const KEPT = 4096;

/** The row with a text of its own, made once: V8 cuts strings by pointing into the long one. */
export function keep(row: Row): Row {
  if (row.kept !== undefined) return row.kept;
  const { text, whole, trimmed } = row;
  const own = Buffer.from(text.slice(0, KEPT), 'utf16le').toString('utf16le');
  const kept: Row = {
    ...row,
    text: own,
    // Both are ends of the text.
    whole: own.slice(text.length - whole.length),
    trimmed: own.slice(text.length - trimmed.length),
  };
  kept.kept = kept;
  row.kept = kept;
  return kept;
}

/** The same, where there may be no row. */
export function keepOr(row: Row | undefined): Row | undefined {
  return row && keep(row);
}
