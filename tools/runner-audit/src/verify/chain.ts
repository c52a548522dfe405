/** Checks the chain: consecutive numbers, matching hashes, and the anchor. */
import { type ChainHead, hashOf, type Link, linkOf } from '@runner/common/audit/chain';
import type { LogRecord } from '@runner/common/audit/record';
import type { SplitLine } from '@runner/common/files/lines-forward';
import { orElse } from '@runner/common/foundation/attempt';
import { jsonEscapes } from '@runner/common/text/harmless';
import { withExactNumbers } from '@runner/common/text/json';
import type { LinePosition, ReportProblem } from './problems.ts';
import { Since } from './since.ts';

/** The last chained record so far. */
interface Last {
  readonly link: Link;
  readonly place: LinePosition;
  readonly since: Since;
}

/** Two records whose hashes do not match; the next record shows which of them was changed. */
interface Mismatch {
  readonly before: Last;
  readonly after: Last;
}

/** Call `record` or `other` for each line in order, then `end`. */
export class ChainCheck {
  readonly #anchor: ChainHead | undefined;
  readonly #report: ReportProblem;
  #last: Last | undefined;
  #mismatch: Mismatch | undefined;
  /** There are records before the chain. */
  #old = false;
  #anchored = false;
  #begin: Last | undefined;
  /** Torn lines that are covered by the hash of a later record. */
  torn = 0;

  constructor(anchor: ChainHead | undefined, report: ReportProblem) {
    this.#anchor = anchor;
    this.#report = report;
  }

  /** Number of the first chained record. */
  get first(): number | undefined {
    return this.#begin?.link.seq;
  }

  /** The newest chained record. */
  get head(): ChainHead | undefined {
    const last = this.#last;
    return last && { seq: last.link.seq, hash: last.since.recordHash };
  }

  record(record: LogRecord, line: Buffer, place: LinePosition): void {
    const link = linkOf(record);
    if (link) {
      this.#checkAnchor(link.seq, line, place);
      // Blanks, other escapes or a name twice leave the record as it was, and let its hash be chosen.
      if (!isAsWritten(record, line))
        this.#report(
          'record_changed',
          `record ${link.seq} was changed: runner writes it differently`,
          place,
        );
      const next = { link, place, since: new Since(line) };
      if (this.#last) this.#follow(this.#last, next);
      else this.#start(next);
      this.#last = next;
    } else if (record.seq !== undefined || record.prev !== undefined) {
      this.#report('record_changed', 'the record has no valid seq and prev', place);
      this.#last?.since.add(line, place, 'reported');
    } else if (this.#last) {
      this.#report('unchained', 'the record is not in the chain', place);
      this.#last.since.add(line, place, 'reported');
    } else this.#old = true;
  }

  /** A line that is not a record. Returns true if the chain decides whether it is a problem. */
  other(line: SplitLine, place: LinePosition, isTorn: boolean): boolean {
    this.#last?.since.add(line, place, isTorn ? 'torn' : 'reported');
    return isTorn && this.#last !== undefined;
  }

  /** `place` is the last line of the log. */
  end(place: LinePosition): void {
    if (this.#mismatch) this.#changed(this.#mismatch.before);
    for (const torn of this.#last?.since.torn ?? [])
      this.#report('not_json', 'the line is not a JSON object', torn);
    this.#endAnchor(place);
  }

  #start(begin: Last): void {
    this.#begin = begin;
    const { seq, prev } = begin.link;
    const { place } = begin;
    if (seq === 1 && prev !== '0'.repeat(prev.length))
      this.#report('record_changed', 'record 1 was changed: it refers to an earlier record', place);
    if (seq > 1 && this.#old) this.#report('record_missing', missing(1, seq), place);
  }

  #follow(last: Last, next: Last): void {
    const [before, { seq, prev }] = [last.link.seq, next.link];
    const { since } = last;
    const mismatch = this.#mismatch;
    this.#mismatch = undefined;
    const inserted = seq === before + 1 ? since.insertedBefore(prev) : undefined;
    const isFitting = seq === before + 1 && since.hash?.startsWith(prev) !== false;
    // Two mismatches in a row: the record between them was changed; otherwise the one before the first.
    if (mismatch) this.#changed(isFitting || seq !== before + 1 ? mismatch.before : mismatch.after);
    if (isFitting) this.torn += since.torn.length;
    else if (seq > before + 1)
      this.#report('record_missing', missing(before + 1, seq), since.first ?? next.place);
    else if (seq === before)
      this.#report('record_order', `there are two records ${seq}`, last.place);
    else if (this.#begin && seq < this.#begin.link.seq)
      this.#report('record_order', `record ${seq} comes after record ${before}`, this.#begin.place);
    else if (seq < before)
      this.#report('record_order', `record ${seq} comes after record ${before}`, next.place);
    else if (inserted)
      this.#report('line_inserted', `a line was inserted after record ${before}`, inserted);
    else if (!mismatch) this.#mismatch = { before: last, after: next };
  }

  #changed({ link: { seq }, place, since }: Last): void {
    const also = since.first ? ', or a line between it and the next' : '';
    this.#report('record_changed', `record ${seq} was changed${also}`, place);
  }

  #checkAnchor(seq: number, line: Buffer, place: LinePosition): void {
    if (this.#anchor?.seq !== seq) return;
    this.#anchored = true;
    if (!hashOf(line).startsWith(this.#anchor.hash))
      this.#report('anchor', `record ${seq} does not match the anchor`, place);
  }

  #endAnchor(place: LinePosition): void {
    if (!this.#anchor || this.#anchored) return;
    const { seq } = this.#anchor;
    const last = this.#last?.link.seq;
    const why =
      last === undefined
        ? 'no record is chained'
        : seq > last
          ? `the log ends with record ${last}`
          : `the log begins with record ${this.first}`;
    this.#report('anchor', `record ${seq} of the anchor is missing: ${why}`, place);
  }
}

/** Whether a line is what a writer makes of its record. Older versions escaped fewer characters. */
function isAsWritten(record: LogRecord, line: Buffer): boolean {
  const written = orElse(() => withExactNumbers(JSON.stringify(record)), '');
  if (Buffer.from(written).equals(line)) return true;
  const text = line.toString('utf8');
  return Buffer.from(text).equals(line) && jsonEscapes(written) === jsonEscapes(text);
}

/** The records from `first` up to the one before `next`. */
function missing(first: number, next: number): string {
  return first === next - 1
    ? `record ${first} is missing before record ${next}`
    : `records ${first} to ${next - 1} are missing before record ${next}`;
}
