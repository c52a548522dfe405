/** Keeps the lines to show of a log in which no rule matches: the rare ones, else the last ones. */
import type { Row } from '../line/row.ts';

/** Lines kept. */
const KEPT = 60;
const LAST_KEPT = 4;
/** A shape seen this often at most is rare. */
const RARE = 2;

/** The rare and the last lines of one log. */
export class RareLines {
  #rare: Row[] = [];
  #beforeEnd: Row[] = [];
  readonly #last: Row[] = [];

  /** Adds a line; one whose shape has been rare so far is kept, unless it is source code. */
  add(row: Row, source: boolean): void {
    row.shape.seen += 1;
    if (row.shape.seen > RARE || source) return;
    this.#rare.push(row);
    if (this.#rare.length > 2 * KEPT) this.#rare = this.#rare.slice(-KEPT);
  }

  addLast(row: Row): void {
    this.#last.push(row);
    if (this.#last.length > LAST_KEPT) this.#last.shift();
  }

  /** Keeps the lines so far as well: much may be cleaned up after the failure. */
  markEnd(): void {
    this.#beforeEnd = this.#rare.slice(-KEPT);
  }

  rare(): Row[] {
    return [...new Set([...this.#beforeEnd, ...this.#rare.slice(-KEPT)])];
  }

  last(): readonly Row[] {
    return this.#last;
  }
}
