/**
 * Text without what tools put before, between and around the characters of a value when they quote or
 * escape it.
 */
import { escapeEnd } from '../text/plain.ts';
import { escapeAfter } from './escapes.ts';

/** What comparisons see of a text; `from` and `to`: where each of its characters stands in that text. */
export interface UnescapedText {
  readonly units: Uint16Array;
  readonly from: Uint32Array;
  readonly to: Uint32Array;
  readonly length: number;
}

const [DROP, KEEP, UNDO, TERMINAL] = [0, 1, 2, 3] as const;
/** What becomes of each character of ASCII: blanks, quotes and `+` stand between the parts of one value. */
const ACTIONS = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code === 0x1b) return TERMINAL;
  const sign = String.fromCharCode(code);
  if (/[\\%&]/.test(sign)) return UNDO;
  return /["'+]/.test(sign) || code <= 0x20 || code === 0x7f ? DROP : KEEP;
});
const [CSI, BACKSLASH, PERCENT, SEMICOLON] = [0x9b, 0x5c, 0x25, 0x3b];
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;
/** The high surrogate of invisible tags. */
const TAG = 0xdb40;
/** The longest escape without its sign: `#x0001f600;`, and after `%`. */
const [AHEAD, AHEAD_PERCENT] = [11, 2];
/** Memory that is kept for the next text, in characters. */
const ROOM = 65_536;

function makeRoom(size: number): Omit<UnescapedText, 'length'> {
  return { units: new Uint16Array(size), from: new Uint32Array(size), to: new Uint32Array(size) };
}

/** Returns what makes room for a reading; up to a size the same each time. */
export function roomFor(): (size: number) => Omit<UnescapedText, 'length'> {
  let kept: Omit<UnescapedText, 'length'> | undefined;
  return (size) => {
    if (size > ROOM) return makeRoom(size);
    kept ??= makeRoom(ROOM);
    return kept;
  };
}

const room = roomFor();

/** A text that is read from its end, so that each escape is undone before the one that contains it. */
class BackwardReader {
  readonly #text: string;
  readonly #units: Uint16Array;
  readonly #from: Uint32Array;
  readonly #to: Uint32Array;
  /** Where the characters that were read begin. */
  #first: number;

  constructor(text: string) {
    this.#text = text;
    this.#first = text.length;
    const { units, from, to } = room(text.length);
    this.#units = units.subarray(0, text.length);
    this.#from = from.subarray(0, text.length);
    this.#to = to.subarray(0, text.length);
  }

  read(): UnescapedText {
    const text = this.#text;
    for (let at = text.length - 1; at >= 0; at -= 1) {
      const unit = text.charCodeAt(at);
      const action = unit < 128 ? ACTIONS[unit] : KEEP;
      if (action === KEEP && unit < 128) this.#push(unit, at, at + 1);
      else if (action === TERMINAL || (unit === CSI && !isLead(text.charCodeAt(at - 1))))
        this.#drop(escapeEnd(text, at));
      else if (action !== DROP) this.#add(unit, at, at + 1);
    }
    const first = this.#first;
    return {
      units: this.#units.subarray(first),
      from: this.#from.subarray(first),
      to: this.#to.subarray(first),
      length: text.length - first,
    };
  }

  #push(unit: number, from: number, to: number): void {
    this.#first -= 1;
    this.#units[this.#first] = unit;
    this.#from[this.#first] = from;
    this.#to[this.#first] = to;
  }

  /** Drops the characters that begin before `end`. */
  #drop(end: number): void {
    while (this.#first < this.#text.length && (this.#from[this.#first] as number) < end)
      this.#first += 1;
  }

  /** Adds a character in front, which may be the sign of an escape, or become one. */
  #add(sign: number, from: number, end: number): void {
    let [unit, to] = [sign, end];
    while (unit < 128 && ACTIONS[unit] === UNDO) {
      const ahead = this.#following(to, unit === PERCENT ? AHEAD_PERCENT : AHEAD);
      const found = escapeAfter(unit, ahead);
      if (!found) break;
      this.#first += found.length;
      if (found.length > 0) to = this.#to[this.#first - 1] as number;
      unit = found.unit;
    }
    if (unit >= 128) this.#addWide(unit, from, to);
    else if (ACTIONS[unit] !== DROP && unit !== BACKSLASH) this.#push(unit, from, to);
  }

  /** Bytes of UTF-8 that were escaped one by one become their character. */
  #addWide(unit: number, from: number, end: number): void {
    const first = this.#first;
    const more = isLead(unit) ? (unit >= 0xf0 ? 3 : unit >= 0xe0 ? 2 : 1) : 0;
    const bytes = this.#units.subarray(first, first + more);
    const isWhole = bytes.length === more && bytes.every((byte) => byte >= 0x80 && byte < 0xc0);
    if (more === 0 || !isWhole) this.#pushWide(unit, from, end);
    else {
      const code = bytes.reduce((sum, byte) => (sum << 6) | (byte & 0x3f), unit & (0x3f >> more));
      this.#first += more;
      this.#pushWide(code, from, this.#to[first + more - 1] as number);
    }
  }

  #pushWide(code: number, from: number, to: number): void {
    // Also invisible when they stand as a pair, of which this is the first.
    if (code === TAG && (this.#units[this.#first] ?? 0) >= 0xdc00) this.#first += 1;
    else if (code > 0xffff) {
      this.#push(0xdc00 + ((code - 0x1_0000) & 0x3ff), from, to);
      this.#pushWide(0xd800 + ((code - 0x1_0000) >> 10), from, to);
      // A continuation byte is not a character of its own.
    } else if (code < 0xc0 || !INVISIBLE.test(String.fromCharCode(code)))
      this.#push(code, from, to);
  }

  /** The characters directly behind `end` that may belong to one escape. */
  #following(end: number, most: number): string {
    let ahead = '';
    let next = end;
    for (let at = this.#first; ahead.length < most && this.#from[at] === next; at += 1) {
      const unit = this.#units[at] as number;
      if (unit >= 128 || ACTIONS[unit] === UNDO) break;
      ahead += String.fromCharCode(unit);
      if (unit === SEMICOLON) break;
      next = this.#to[at] as number;
    }
    return ahead;
  }
}

/** Whether a byte may begin a character of several bytes in UTF-8. */
function isLead(unit: number): boolean {
  return unit >= 0xc2 && unit <= 0xf4;
}

/** Undoes escapes of JSON, JavaScript, C, shells, URLs, HTML and terminals, also several times over. Valid until the next call. */
export function unescaped(text: string): UnescapedText {
  return new BackwardReader(text).read();
}
