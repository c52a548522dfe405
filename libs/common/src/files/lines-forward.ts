/** Lines of what comes in blocks, first to last. */
import { LINE_MAX } from './lines-backward.ts';

const NEWLINE = 0x0a;

/** A line without its newline; undefined when it was too long to be kept. */
export type Line = Buffer | undefined;

/** Cuts blocks of bytes, one after the other, into lines. */
export class LineSplitter {
  #parts: Buffer[] = [];
  #size = 0;

  /** The lines that end in this block. */
  take(block: Buffer): Line[] {
    const lines: Line[] = [];
    let from = 0;
    for (let at = block.indexOf(NEWLINE); at !== -1; at = block.indexOf(NEWLINE, from)) {
      lines.push(this.#ended(block.subarray(from, at)));
      from = at + 1;
    }
    this.#keep(block.subarray(from));
    return lines;
  }

  /** Whether something stands behind the last newline. */
  get isInLine(): boolean {
    return this.#size > 0;
  }

  /** What stands behind the last newline; none when nothing does. */
  rest(): Line[] {
    return this.isInLine ? [this.#ended(Buffer.alloc(0))] : [];
  }

  #ended(end: Buffer): Line {
    const size = this.#size + end.length;
    const parts = this.#parts;
    this.#parts = [];
    this.#size = 0;
    if (size > LINE_MAX) return undefined;
    return parts.length === 0 ? end : Buffer.concat([...parts, end]);
  }

  #keep(part: Buffer): void {
    this.#size += part.length;
    if (this.#size > LINE_MAX) this.#parts = [];
    else if (part.length > 0) this.#parts.push(Buffer.from(part));
  }
}
