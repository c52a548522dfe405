/**
 * Finds known secrets in text in whatever form a tool prints them: wrapped, dumped in columns, cut by a
 * prefix on each line.
 */
import { type Compact, compacted, compactForms } from './compact.ts';
import { formsOf } from './encodings.ts';
import { earlierPiece, laterPiece } from './piece-lines.ts';
import { type Form, PIECE, type Piece, Pieces } from './pieces.ts';
import { REDACTED } from './redacted.ts';

/** A text may end within a secret if it ends with this much of one. */
const OPEN_MIN = 4;
/** Characters of a text for one of a form, at most: `0x67, `. */
const SPREAD = 8;
/** A longer line is not held back as a whole. */
const LINE_MAX = 4_096;
/** A line of xxd, hexdump or od, which shows the same bytes again as text. */
const DUMP = /(?:^|\s)[0-9a-f]{4,16}:?[ \t]+(?:[0-9a-f]{2,8}[ \t]+){2}/i;

interface Range {
  readonly from: number;
  readonly to: number;
}

/** The secrets to look for. */
export class KnownSecrets {
  /** Forms that are looked for as they are, long ones first. */
  readonly #exact: readonly string[];
  readonly #forms: readonly Form[];
  readonly #pieces: Pieces;
  readonly #longest: number;

  constructor(values: readonly string[]) {
    const [exact, forms] = [new Set<string>(), new Set<string>()];
    for (const value of values) {
      for (const form of formsOf(value)) {
        const compact = compactForms(form);
        // Most of an address is no secret: its pieces are not.
        const isWhole = compact.some(({ length }) => length < PIECE) || value.includes('://');
        if (isWhole || form === value) exact.add(form);
        if (!isWhole) for (const each of compact) forms.add(each);
      }
    }
    this.#exact = [...exact].sort((a, b) => b.length - a.length);
    this.#forms = [...forms].map((text) => ({ text, units: Buffer.from(text, 'latin1') }));
    this.#pieces = new Pieces(this.#forms);
    this.#longest = Math.max(0, ...[...forms].map((form) => form.length));
  }

  /** Replaces literal occurrences. */
  withoutExact(text: string): string {
    let cleaned = text;
    for (const form of this.#exact) cleaned = cleaned.replaceAll(form, REDACTED);
    return cleaned;
  }

  /** Replaces every piece of a form, wherever the lines of a text break it. */
  withoutPieces(text: string): string {
    if (this.#forms.length === 0 || text.length < PIECE) return text;
    const compact = compacted(text);
    const found = this.#chains(compact, text)
      .flat()
      .map((piece) => rangeOf(compact, text, piece));
    if (found.length === 0) return text;
    let cleaned = '';
    let at = 0;
    for (const { from, to } of found.sort((a, b) => a.from - b.from)) {
      if (to <= at) continue;
      if (from >= at) cleaned += text.slice(at, from) + REDACTED;
      at = to;
    }
    return cleaned + text.slice(at);
  }

  /**
   * Where a secret may begin that the text does not end: the beginning of its line, if that is near. The
   * length of the text without one.
   */
  unfinishedAt(text: string): number {
    const base = Math.max(0, text.length - SPREAD * this.#longest);
    const compact = compacted(text.slice(base));
    const { units, at, length } = compact;
    const tail = Buffer.from(units.subarray(0, length)).toString('latin1');
    let held = 0;
    for (const { text: form } of this.#forms) {
      const body = form.slice(0, -1);
      let size = Math.max(held + 1, OPEN_MIN);
      while (size <= length && body.includes(tail.slice(length - size))) held = size++;
    }
    if (held === 0) return text.length;
    const lineOf = (place: number) => {
      const start = base + (at[place] as number);
      const line = text.lastIndexOf('\n', start) + 1;
      return start - line > LINE_MAX ? start : line;
    };
    // Not between the lines of one secret: the last of them may be too short to be found alone.
    const before = this.#chains(compact, text.slice(base))
      .filter((chain) => chain.some(({ to }) => to > length - held))
      .map((chain) => lineOf(Math.min(...chain.map(({ from }) => from))));
    return Math.min(lineOf(length - held), ...before);
  }

  /** The pieces of forms, those together that continue each other. */
  #chains(compact: Compact, text: string): Piece[][] {
    const found: Piece[][] = [];
    let piece = this.#pieces.next(compact, 0);
    while (piece) {
      const around = [piece];
      for (const beside of [laterPiece, earlierPiece])
        for (let at = beside(text, compact, piece); at; at = beside(text, compact, at))
          around.push(at);
      found.push(around);
      piece = this.#pieces.next(compact, piece.to);
    }
    return found;
  }
}

/** Where a piece stands in the text; in a line of a dump up to its end. */
function rangeOf({ at }: Compact, text: string, piece: Piece): Range {
  const from = at[piece.from] as number;
  const to = (at[piece.to - 1] as number) + 1;
  const line = text.lastIndexOf('\n', to - 1) + 1;
  const next = text.indexOf('\n', to);
  const end = next === -1 ? text.length : next;
  return end - line < LINE_MAX && DUMP.test(text.slice(line, end))
    ? { from, to: end }
    : { from, to };
}
