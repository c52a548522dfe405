/** Finds pieces of given texts in a compact text, at the cost of looking at every ninth place of it. */
import type { Compact } from './compact.ts';
import { sameAfter, sameBefore } from './same.ts';

/** Characters that a piece has at least. */
export const PIECE = 16;
/** A piece has one of these at every ninth place. */
const GRAM = 8;
export const STRIDE = PIECE - GRAM + 1;
/** Places of one gram that are tried, of a form that repeats itself. */
const PLACES = 64;

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

function hashAt(units: Uint8Array, at: number): number {
  const four = (from: number) =>
    (units[from] as number) |
    ((units[from + 1] as number) << 8) |
    ((units[from + 2] as number) << 16) |
    ((units[from + 3] as number) << 24);
  const mixed = Math.imul(four(at), 0x9e3779b1) ^ Math.imul(four(at + 4), 0x85ebca77);
  return mixed ^ (mixed >>> 15);
}

/** All pieces of some forms, each of at least `PIECE` characters. */
export class Pieces {
  readonly #places = new Map<number, { form: Form; at: number }[]>();
  /** Which hashes occur, by their low bits: for most places the search ends here. */
  readonly #occurs = new Uint8Array(65_536);

  constructor(forms: readonly Form[]) {
    for (const form of forms) {
      for (let at = 0; at + GRAM <= form.units.length; at += 1) {
        const hash = hashAt(form.units, at);
        const places = this.#places.get(hash) ?? [];
        if (places.length < PLACES) places.push({ form, at });
        this.#places.set(hash, places);
        this.#occurs[hash & 0xffff] = 1;
      }
    }
  }

  /** The longest piece around a place, not before `floor`; undefined without one. */
  around(text: Compact, at: number, floor: number): Piece | undefined {
    if (at + GRAM > text.length) return undefined;
    const hash = hashAt(text.units, at);
    if (this.#occurs[hash & 0xffff] === 0) return undefined;
    let found: Piece | undefined;
    for (const { form, at: place } of this.#places.get(hash) ?? []) {
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
