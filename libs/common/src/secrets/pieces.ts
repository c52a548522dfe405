/** Finds pieces of forms in a compact text. */
import type { Compact } from './compact.ts';
import { sameAfter, sameBefore } from './same.ts';

/** Characters that a piece has at least. */
export const PIECE = 16;
/** A piece has one of these that begins at a ninth place of its form. */
const GRAM = 8;
const STRIDE = PIECE - GRAM + 1;
/** Places with one hash that are tried. */
const PLACES = 64;
/** Hashes for each place, and at least: a power of two. */
const SPARSE = 4;
const HASHES_MIN = 16_384;

type Entry = [previous: number, form: number, place: number];

/** A form of a secret, as it stands in a compact text. */
export interface Form {
  readonly text: string;
  readonly units: Uint8Array;
}

/** A part of a compact text that is a part of a form. */
export interface Piece {
  readonly form: Form;
  readonly from: number;
  readonly to: number;
  /** Where it begins and ends in the form. */
  readonly start: number;
  readonly end: number;
}

/** The hash of eight characters, four in each number. */
function hashOf(low: number, high: number): number {
  const mixed = Math.imul(low, 0x9e3779b1) ^ Math.imul(high, 0x85ebca77);
  return mixed ^ (mixed >>> 15);
}

/** All pieces of some forms, each of at least `PIECE` characters. */
export class Pieces {
  readonly #forms: readonly Form[];
  /** The end of the last entry of each hash: most are 0, and the search ends there. */
  readonly #last: Int32Array;
  /** Of each indexed place: the entry before it with the same hash, its form, and where in that. */
  readonly #entries: number[] = [];

  constructor(forms: readonly Form[]) {
    this.#forms = forms;
    const places = forms.reduce((sum, { units }) => sum + units.length / STRIDE, 0);
    this.#last = new Int32Array(
      Math.max(HASHES_MIN, 2 ** Math.ceil(Math.log2(SPARSE * places + 1))),
    );
    for (const [index, { units }] of forms.entries()) {
      const words = new DataView(units.buffer, units.byteOffset, units.length);
      for (let at = 0; at + GRAM <= units.length; at += STRIDE) {
        const hash =
          hashOf(words.getInt32(at, true), words.getInt32(at + 4, true)) & (this.#last.length - 1);
        this.#entries.push(this.#last[hash] as number, index, at);
        this.#last[hash] = this.#entries.length;
      }
    }
  }

  /** The first piece from `floor` on; undefined without one. */
  next(text: Compact, floor: number): Piece | undefined {
    const { units, length } = text;
    const [last, mask] = [this.#last, this.#last.length - 1];
    let [low, high] = [0, 0];
    for (let end = floor; end < length; end += 1) {
      low = (low >>> 8) | (high << 24);
      high = (high >>> 8) | ((units[end] as number) << 24);
      const at = end + 1 - GRAM;
      if (at < floor) continue;
      const entry = last[hashOf(low, high) & mask] as number;
      const found = entry > 0 ? this.#around(text, at, floor, entry) : undefined;
      if (found) return found;
    }
    return undefined;
  }

  /** The longest piece around a place, of the forms of this entry and those before it. */
  #around(text: Compact, at: number, floor: number, entry: number): Piece | undefined {
    let found: Piece | undefined;
    let end = entry;
    for (let tried = 0; end > 0 && tried < PLACES; tried += 1) {
      const [previous, index, place] = this.#entries.slice(end - 3, end) as Entry;
      end = previous;
      const form = this.#forms[index] as Form;
      const after = sameAfter(text, at, form.units, place);
      const before = sameBefore(text, at, form.units, place, floor);
      const length = before + after;
      if (length < PIECE || (found && length <= found.to - found.from)) continue;
      const start = place - before;
      found = { form, from: at - before, to: at + after, start, end: start + length };
    }
    return found;
  }
}
