/** Splits blocks of bytes into lines, first to last. */
import { LINE_MAX } from './lines-backward.ts';

const NEWLINE = 0x0a;

/** A line without its newline; undefined if it was too long. */
export type SplitLine = Buffer | undefined;

/** Splits consecutive blocks into lines of at most `max` bytes. */
export class LineSplitter {
  readonly #max: number;
  #parts: Buffer[] = [];
  #size = 0;

  constructor(max = LINE_MAX) {
    this.#max = max;
  }

  /** The lines that end in this block. */
  take(block: Buffer): SplitLine[] {
    const lines: SplitLine[] = [];
    let from = 0;
    for (let at = block.indexOf(NEWLINE); at !== -1; at = block.indexOf(NEWLINE, from)) {
      lines.push(this.#ended(block.subarray(from, at)));
      from = at + 1;
    }
    this.#keep(block.subarray(from));
    return lines;
  }

  /** Whether there is an unfinished line. */
  get isInLine(): boolean {
    return this.#size > 0;
  }

  /** The unfinished line, if any. */
  rest(): SplitLine[] {
    return this.isInLine ? [this.#ended(Buffer.alloc(0))] : [];
  }

  #ended(end: Buffer): SplitLine {
    const size = this.#size + end.length;
    const parts = this.#parts;
    this.#parts = [];
    this.#size = 0;
    if (size > this.#max) return undefined;
    return parts.length === 0 ? end : Buffer.concat([...parts, end]);
  }

  #keep(part: Buffer): void {
    this.#size += part.length;
    if (this.#size > this.#max) this.#parts = [];
    else if (part.length > 0) this.#parts.push(Buffer.from(part));
  }
}
