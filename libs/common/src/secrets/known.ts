/**
 * Finds known secrets in text in whatever form a tool prints them: escaped, encoded, wrapped, dumped in
 * columns, cut by a prefix on each line.
 */
import { byteLists } from './byte-lists.ts';
import { compacted } from './compact.ts';
import { edgesOf, pastSigns } from './edges.ts';
import { escapedForms, formsOf, hexForms } from './encodings.ts';
import { earlierPiece, laterPiece } from './piece-lines.ts';
import {
  type EncodedForm,
  formOf,
  GRAM,
  PIECE,
  Pieces,
  type SecretPiece,
  textOf,
} from './pieces.ts';
import { isAddress } from './places.ts';
import { SECRET_MIN } from './plain-fields.ts';
import { type TextRange, withoutRanges } from './redacted.ts';
import { shapedIn } from './shapes.ts';
import { type UnescapedText, unescaped } from './unescaped.ts';

/** A text may end within a secret if it ends with this much of one. */
const OPEN_MIN = 4;
/** Characters of a text for one of a secret, at most: `&#x006b;`, or a number on a line of its own. */
const SPREAD = 12;
/** A longer line is not held back as a whole. */
const LINE_MAX = 4_096;
/** A line of xxd, hexdump or od, which shows the same bytes again as text. */
const DUMP = /(?:^|\s)[0-9a-f]{4,16}:?[ \t]+(?:[0-9a-f]{2,8}[ \t]+){2}/i;

/** What is found in a reading; `plain`: with the signs that it may lack. */
type FindIn<T> = (reading: UnescapedText, pieces: Pieces, plain: UnescapedText) => T[];

export class KnownSecrets {
  /** Values that are looked for as they are, long ones first. */
  readonly #exact: readonly string[];
  /** Values of which only the whole counts, with all their signs. */
  readonly #whole: Pieces;
  /** Letters and digits of the others, and of all encoded ones. */
  readonly #pieces: Pieces;
  readonly #longest: number;

  constructor(values: readonly string[]) {
    const exact = new Set<string>();
    const [whole, pieces]: [EncodedForm[], EncodedForm[]] = [[], []];
    for (const value of values.filter(({ length }) => length >= SECRET_MIN)) {
      exact.add(value);
      const plain = unescaped(value);
      const letters = compacted(plain);
      const edges = edgesOf(plain);
      // Most of an address is no secret: its pieces are not. Short pieces are words.
      const isPlace = isAddress(value);
      if (letters.length >= PIECE && !isPlace) pieces.push({ ...formOf(letters, PIECE), edges });
      else {
        whole.push(formOf(plain, plain.length));
        const escaped = plain.length < GRAM ? escapedForms(value) : [];
        for (const form of [...hexForms(value), ...escaped]) exact.add(form);
      }
      for (const form of formsOf(value))
        pieces.push(formOf(compacted(unescaped(form)), isPlace ? form.length : PIECE));
    }
    this.#exact = [...exact].sort((a, b) => b.length - a.length);
    this.#whole = new Pieces(whole);
    this.#pieces = new Pieces(pieces);
    this.#longest = Math.max(0, ...values.map(({ length }) => length));
  }

  /** Replaces literal occurrences. */
  withoutExact(text: string): string {
    return replaced(text, this.#exactIn(text));
  }

  /** Replaces every secret however a tool wrote it, and every piece of one. */
  withoutForms(text: string): string {
    if (this.#longest === 0) return text;
    const found = this.#inReadings(text, (reading, pieces, plain) =>
      chainsIn(reading, pieces, text)
        .flat()
        .map((piece) => withEdges(rangeOf(reading, text, piece), piece, plain)),
    );
    // Not before: of an address without its password, the rest would not be found.
    return replaced(text, [...found, ...this.#exactIn(text)]);
  }

  #exactIn(text: string): TextRange[] {
    const found: TextRange[] = [];
    for (const form of this.#exact)
      for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + form.length))
        found.push({ from: at, to: at + form.length });
    return found;
  }

  /**
   * Where a secret may begin that the text does not end: the beginning of its line, if that is near. The
   * length of the text without one.
   */
  unfinishedAt(text: string): number {
    const base = Math.max(0, text.length - SPREAD * this.#longest);
    const tail = text.slice(base);
    const lastLine = tail.lastIndexOf('\n', tail.length - 2);
    const places = this.#inReadings(tail, (reading, pieces) =>
      (reading.to[reading.length - 1] ?? 0) > lastLine ? unfinishedIn(reading, pieces, tail) : [],
    );
    const lineOf = (place: number) => {
      const line = text.lastIndexOf('\n', base + place) + 1;
      return base + place - line > LINE_MAX ? base + place : line;
    };
    return Math.min(text.length, ...places.map(lineOf));
  }

  /** What `find` finds in each way to read the text and the lists of bytes in it. */
  #inReadings<T>(text: string, find: FindIn<T>): T[] {
    const inBoth = (plain: UnescapedText) => [
      ...find(compacted(plain), this.#pieces, plain),
      ...find(plain, this.#whole, plain),
    ];
    const found = inBoth(unescaped(text));
    for (const list of byteLists(text)) {
      const plain = unescaped(list.text);
      const from = plain.from.map((at) => list.from[at] as number);
      const to = plain.to.map((at) => list.to[at - 1] as number);
      found.push(...inBoth({ ...plain, from, to }));
    }
    return found;
  }
}

/** With the whole of each token that one is a part of: without it the rest has no shape. */
function replaced(text: string, found: readonly TextRange[]): string {
  return found.length === 0 ? text : withoutRanges(text, [...found, ...shapedIn(text)]);
}

/** Where secrets begin that the end of a text may cut. */
function unfinishedIn(reading: UnescapedText, pieces: Pieces, text: string): number[] {
  const all = textOf(reading);
  let held = 0;
  for (const form of pieces.forms) {
    const body = form.text.slice(0, -1);
    let size = Math.max(held + 1, OPEN_MIN);
    while (size <= all.length && body.includes(all.slice(-size))) held = size++;
  }
  if (held === 0) return [];
  // Not between the lines of one secret: the last of them may be too short to be found alone.
  const before = chainsIn(reading, pieces, text)
    .filter((chain) => chain.some(({ to }) => to > all.length - held))
    .flatMap((chain) => chain.map(({ from }) => from));
  return [all.length - held, ...before].map((place) => reading.from[place] as number);
}

/** The pieces of forms, those together that continue each other. */
function chainsIn(reading: UnescapedText, pieces: Pieces, text: string): SecretPiece[][] {
  const found: SecretPiece[][] = [];
  let piece = pieces.next(reading, 0);
  while (piece) {
    const around = [piece];
    for (const beside of [laterPiece, earlierPiece])
      for (let at = beside(text, reading, piece); at; at = beside(text, reading, at))
        around.push(at);
    found.push(around);
    piece = pieces.next(reading, piece.to);
  }
  return found;
}

/** The range of a piece with the signs of the secret beside it. */
function withEdges(
  { from, to }: TextRange,
  { form: { edges, units }, start, end }: SecretPiece,
  plain: UnescapedText,
): TextRange {
  if (!edges) return { from, to };
  return {
    from: start === 0 ? pastSigns(plain, from, edges.before, -1) : from,
    to: end === units.length ? pastSigns(plain, to, edges.after, 1) : to,
  };
}

/** Where a piece stands in the text; in a line of a dump up to its end. */
function rangeOf(reading: UnescapedText, text: string, piece: SecretPiece): TextRange {
  const from = reading.from[piece.from] as number;
  const to = reading.to[piece.to - 1] as number;
  const line = text.lastIndexOf('\n', to - 1) + 1;
  const next = text.indexOf('\n', to);
  const end = next === -1 ? text.length : next;
  return end - line < LINE_MAX && DUMP.test(text.slice(line, end))
    ? { from, to: end }
    : { from, to };
}
