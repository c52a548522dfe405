/** Bytes that a text lists one by one: dumps of xxd, hexdump and od, arrays of JSON, Go or Python. */

/** Bytes as characters; `from` and `to`: where each of them is listed in the text. */
export interface ByteList {
  readonly text: string;
  readonly from: ArrayLike<number>;
  readonly to: ArrayLike<number>;
}

/** Where a list may begin: numbers with the same or blanks between them, four short or three long ones. */
const START =
  /[0-9a-fA-F]{2}(?:([^0-9a-zA-Z]{1,12}(?:0[xo])?)(?:[0-9a-fA-F]{2,16}\1[0-9a-fA-F]{2,16}\1|[0-9a-fA-F]{8}\1)| {1,3}[0-9a-fA-F]{2,16} {1,3}[0-9a-fA-F]{2,16} {1,3})[0-9a-fA-F]/g;
/** A shorter number is no offset of a dump. */
const OFFSET_MIN = 6;
const [DIGITS_MAX, BYTES_MIN] = [16, 6];
const [COLON, BAR, GREATER, SPACE, NEWLINE, ZERO, O, X] = [58, 124, 62, 32, 10, 48, 111, 120];

/** The value of each hex digit; `OTHER` for another letter, `NONE` for what stands between words. */
const [OTHER, NONE] = [16, 17];
const VALUES = Uint8Array.from({ length: 128 }, (_, code) => {
  const sign = String.fromCharCode(code);
  if (/[0-9a-f]/i.test(sign)) return Number.parseInt(sign, 16);
  return /[a-z_]/i.test(sign) ? OTHER : NONE;
});

function valueAt(text: string, at: number): number {
  return VALUES[text.charCodeAt(at)] ?? NONE;
}

/** Numbers of a list: where the digits of each begin and end. */
interface Numbers {
  readonly from: number[];
  readonly to: number[];
}

/** Every list of the text, read in each notation that its numbers may have. */
export function byteLists(text: string): ByteList[] {
  const lists: ByteList[] = [];
  START.lastIndex = 0;
  for (let found = START.exec(text); found; found = START.exec(text)) {
    const numbers: Numbers = { from: [], to: [] };
    START.lastIndex = Math.max(
      takeRows(text, beginOf(text, found.index), numbers),
      found.index + 1,
    );
    for (const notation of NOTATIONS) {
      const list = decoded(text, numbers, notation);
      if (list) lists.push(list);
    }
  }
  return [...lists, ...cellLists(text)];
}

/** A line of `od -c` or `hexdump -c`: an offset, and four columns for each byte. */
const CELLS = /\b[0-9a-f]{7}((?: {3}[!-~]| {4}| {2}\\[0abefnrtv]| [0-3][0-7]{2})+) *$/gm;
const CELL = 4;

/** The bytes of all lines in which `od -c` shows them. */
function cellLists(text: string): ByteList[] {
  let bytes = '';
  const from: number[] = [];
  for (const { 0: all, 1: cells = '', index } of text.matchAll(CELLS)) {
    const first = index + all.indexOf(cells, 7);
    for (let at = 0; at < cells.length; at += CELL) {
      const cell = cells.slice(at, at + CELL).trim();
      bytes +=
        cell.length === 3 ? String.fromCharCode(Number.parseInt(cell, 8)) : (cell.at(-1) ?? ' ');
      from.push(first + at);
    }
  }
  return from.length > 0 ? [{ text: bytes, from, to: from.map((at) => at + CELL) }] : [];
}

/** Where the number begins of which `at` is a digit, or the offset that stands before it. */
function beginOf(text: string, at: number): number {
  let begin = at;
  while (begin > at - DIGITS_MAX && valueAt(text, begin - 1) < OTHER) begin -= 1;
  return text.charCodeAt(begin - 2) === COLON && begin - 2 > at - 2 * DIGITS_MAX
    ? beginOf(text, begin - 3)
    : begin;
}

/** Adds the numbers of all lines that belong to a list; returns where it ends. */
function takeRows(text: string, start: number, numbers: Numbers): number {
  for (let at = start; at < text.length; ) {
    const before = numbers.from.length;
    const end = takeRow(text, at, numbers);
    if (numbers.from.length === before || (end < text.length && text.charCodeAt(end) !== NEWLINE))
      return end;
    at = end + 1;
  }
  return text.length;
}

/** Adds the numbers of a line, without an offset before and the text behind; returns where they end. */
function takeRow(text: string, start: number, { from, to }: Numbers): number {
  const first = from.length;
  const restart = () => {
    from.length = first;
    to.length = first;
  };
  let hasOffset = false;
  for (let at = start; ; ) {
    const gap = at;
    while (at < text.length && text.charCodeAt(at) !== NEWLINE && valueAt(text, at) === NONE)
      at += 1;
    const isFirst = from.length === first;
    if (at === text.length || text.charCodeAt(at) === NEWLINE) return at;
    if (!isFirst && isBarBetween(text, gap, at)) return lineEnd(text, at);
    const digits = at + prefixAt(text, at);
    at = digits;
    let isNumber = true;
    for (let value = valueAt(text, at); value !== NONE; value = valueAt(text, at)) {
      isNumber &&= value < OTHER;
      at += 1;
    }
    // The text beside the numbers of xxd; a short last one stands like it, but before it.
    if (hasOffset && !isFirst && isWide(text, gap) && !isWide(text, at)) return lineEnd(text, at);
    if (isNumber && at > digits && at - digits <= DIGITS_MAX) {
      if (from.length === first + 1 && !hasOffset) {
        const [begin, end] = [from[first] as number, to[first] as number];
        hasOffset = end - begin >= OFFSET_MIN && text.startsWith(': ', end);
        const isOther = end - begin >= OFFSET_MIN && end - begin !== at - digits;
        if (hasOffset || (isOther && text.charCodeAt(end) === SPACE)) restart();
      }
      from.push(digits);
      to.push(at);
    } else if (from.length - first > 1) return at;
    else restart();
  }
}

/** The length of `0x` or `0o`. */
function prefixAt(text: string, at: number): number {
  const sign = text.charCodeAt(at) === ZERO ? text.charCodeAt(at + 1) : 0;
  return sign === X || sign === O ? 2 : 0;
}

function isWide(text: string, at: number): boolean {
  return text.startsWith('  ', at);
}

/** Whether the text beside the numbers of a dump begins: `|` in hexdump, `>` in od. */
function isBarBetween(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === BAR || unit === GREATER) return true;
  }
  return false;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

/** How numbers stand for bytes. */
interface Notation {
  readonly radix: number;
  /** Bytes of a number by the count of its digits; 0 if no tool writes so many. */
  readonly sizes: readonly number[];
  /** The first digits are those of the first byte. */
  readonly inOrder?: true;
}

const NOTATIONS: readonly Notation[] = [
  { radix: 16, sizes: [0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8], inOrder: true },
  { radix: 16, sizes: [0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8] },
  { radix: 8, sizes: [0, 0, 1, 1, 0, 0, 2] },
  { radix: 10, sizes: [0, 1, 1, 1, 0, 2] },
  { radix: 2, sizes: [0, 0, 0, 0, 0, 0, 0, 0, 1] },
];

function decoded(text: string, numbers: Numbers, notation: Notation): ByteList | undefined {
  const room = (DIGITS_MAX / 2) * numbers.from.length;
  const [bytes, from, to] = [new Uint8Array(room), new Uint32Array(room), new Uint32Array(room)];
  let count = 0;
  for (let index = 0; index < numbers.from.length; index += 1) {
    const [start, end] = [numbers.from[index] as number, numbers.to[index] as number];
    const size = takeBytes(text, start, end, notation);
    for (let at = 0; at < size; at += 1) {
      bytes[count] = TAKEN[notation.inOrder ? size - 1 - at : at] as number;
      from[count] = start;
      to[count] = end;
      count += 1;
    }
  }
  if (count < BYTES_MIN) return undefined;
  return { text: Buffer.from(bytes.buffer, 0, count).toString('latin1'), from, to };
}

/** The bytes of the last number, the lowest first. */
const TAKEN = new Uint8Array(DIGITS_MAX / 2);

/** Takes the bytes of a number; returns how many, 0 if it is not written in this notation. */
function takeBytes(text: string, from: number, to: number, { radix, sizes }: Notation): number {
  const size = sizes[to - from] ?? 0;
  if (radix === 16) {
    for (let at = 0; at < size; at += 1)
      TAKEN[at] = numberAt(text, to - 2 * at - 2, to - 2 * at, 16);
    return size;
  }
  const number = size > 0 ? numberAt(text, from, to, radix) : 0;
  if (number >> (8 * size) !== 0) return 0;
  for (let at = 0; at < size; at += 1) TAKEN[at] = number >> (8 * at);
  return size;
}

/** A number of at most eight digits; -1 if it has other ones. */
function numberAt(text: string, from: number, to: number, radix: number): number {
  let number = 0;
  for (let at = from; at < to; at += 1) {
    const digit = valueAt(text, at);
    if (digit >= radix) return -1;
    number = number * radix + digit;
  }
  return number;
}
