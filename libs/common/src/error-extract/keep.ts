/** Redacts lines before they are kept, and lets go of the piece of the log that they were cut from. */
import type { Row } from './row.ts';

/** Code units of a kept line; no more is ever shown. */
const KEPT = 2000;

/** A function that gives the form of a row that may be kept; each row is redacted once. */
export function createKeeper(redact: (text: string) => string): (row: Row) => Row {
  return (row) => {
    if (row.kept !== undefined) return row.kept;
    const text = redact(row.text);
    const same = text === row.text;
    const kept: Row = {
      ...row,
      text: own(text),
      whole: own(same ? row.whole : redact(row.whole)),
      trimmed: own(same ? row.trimmed : redact(row.trimmed)),
    };
    kept.kept = kept;
    row.kept = kept;
    return kept;
  };
}

/** The row with texts of its own, not redacted: for what is only remembered on the way. */
export function ownRow(row: Row): Row {
  return { ...row, text: own(row.text), whole: own(row.whole), trimmed: own(row.trimmed) };
}

/** V8 cuts strings by pointing into the long one, which then cannot go. */
function own(text: string): string {
  return Buffer.from(text.slice(0, KEPT), 'utf16le').toString('utf16le');
}
