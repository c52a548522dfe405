/** Keeps few of many lines: of each rule those that may turn out to tell the cause, and rare ones. */
import type { Candidate, Row } from '../line/row.ts';

/** Candidates kept of one rule. */
const PER_RULE = 14;
/** Rare lines kept, and last ones. */
const KEPT = 60;
const LAST_KEPT = 4;
/** A shape seen this often at most is rare. */
const RARE = 2;

/** What is kept of one log. */
export class KeptLines {
  readonly #byRule = new Map<string, Candidate[]>();
  #rare: Row[] = [];
  #beforeEnd: Row[] = [];
  last: Row[] = [];

  offer(candidate: Candidate): void {
    const { rule, row } = candidate;
    const kept = this.#byRule.get(rule.name) ?? [];
    this.#byRule.set(rule.name, kept);
    row.shape.offered += 1;
    kept.push(candidate);
    // The first two stay: a cause may stand at the very top of a long cascade.
    if (kept.length > PER_RULE) kept.splice(2, 1);
  }

  /** Adds a line that was printed; one whose shape has been rare so far is kept. */
  add(row: Row): void {
    row.shape.seen += 1;
    if (row.shape.seen > RARE) return;
    this.#rare.push(row);
    if (this.#rare.length > 2 * KEPT) this.#rare = this.#rare.slice(-KEPT);
  }

  addLast(row: Row): void {
    this.last.push(row);
    if (this.last.length > LAST_KEPT) this.last.shift();
  }

  /** Keeps the lines so far as well: much may be cleaned up after the failure. */
  markEnd(): void {
    this.#beforeEnd = this.#rare.slice(-KEPT);
  }

  /** Forgets the lines from this one on: no program printed them. */
  forget(from: number): void {
    const stays = ({ line }: Row) => line < from;
    this.#rare = this.#rare.filter(stays);
    this.last = this.last.filter(stays);
    for (const [name, kept] of this.#byRule)
      this.#byRule.set(
        name,
        kept.filter(({ row }) => stays(row)),
      );
  }

  candidates(): Candidate[] {
    return [...this.#byRule.values()].flat();
  }

  rare(): Row[] {
    return [...new Set([...this.#beforeEnd, ...this.#rare.slice(-KEPT)])];
  }
}
