/** Finds pieces of forms in a reading of a text. */

import type { SecretEdges } from './edges.ts';
import { sameAfter, sameBefore } from './same.ts';
import type { UnescapedText } from './unescaped.ts';

/** Characters that a piece has at least. */
export const PIECE = 16;
/** A piece has one of these that begins at a ninth place of its form. */
export const GRAM = 8;
const STRIDE = PIECE - GRAM + 1;
/** Places with one hash that are tried. */
const PLACES = 64;
/** Base64 of the algorithm's name, at the beginning of every such key and in certificates; as in a compact reading. */
const PUBLIC = [
  'MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBK',
  'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg',
  'MC4CAQAwBQYDK2VwBCIEI',
].map((text) => text.toLowerCase());
/** Hashes for each place. */
const SPARSE = 16;

/** A form of a secret, as it stands in a reading of a text. */
export interface EncodedForm {
  readonly text: string;
  readonly units: Uint16Array;
  /** Characters that must be found in a row. */
  readonly least: number;
  /** Signs of the secret around it; absent for an encoded one, which has none. */
  readonly edges?: SecretEdges;
}

/** A form of which at least `least` characters must be found in a row, all of a shorter one. */
export function formOf(reading: UnescapedText, least: number): EncodedForm {
  const units = reading.units.slice(0, reading.length);
  return { text: textOf(reading), units, least: Math.min(least, units.length) };
}

/** The characters of a reading. */
export function textOf({ units, length }: UnescapedText): string {
  return Buffer.from(units.buffer, units.byteOffset, 2 * length).toString('utf16le');
}

/** A part of a reading that is a part of a form. */
export interface SecretPiece {
  readonly form: EncodedForm;
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
  readonly forms: readonly EncodedForm[];
  /** The end of the last entry of each hash: most are 0, and the search ends there. */
  readonly #last: Int32Array;
  /** Whether a hash has an entry: small enough for the processor's cache. */
  readonly #has: Uint8Array;
  /** Of each indexed place: the entry before it with the same hash, its form, and where in that. */
  readonly #entries: number[] = [];

  /** Leaves out forms that are too short. */
  constructor(forms: readonly EncodedForm[]) {
    const distinct = new Map(forms.map((form) => [form.text, form]));
    this.forms = [...distinct.values()].filter(({ units }) => units.length >= GRAM);
    const places = this.forms.reduce((sum, { units }) => sum + units.length / STRIDE, 0);
    this.#last = new Int32Array(2 ** Math.ceil(Math.log2(SPARSE * places + 1)));
    this.#has = new Uint8Array(this.#last.length);
    for (const [index, { units }] of this.forms.entries()) {
      const bytes = Buffer.from(units);
      for (let at = 0; at + GRAM <= units.length; at += STRIDE) {
        const hash =
          hashOf(bytes.readInt32LE(at), bytes.readInt32LE(at + 4)) & (this.#last.length - 1);
        this.#entries.push(this.#last[hash] as number, index, at);
        this.#last[hash] = this.#entries.length;
        this.#has[hash] = 1;
      }
    }
  }

  /** The first piece from `floor` on; undefined without one. */
  next(text: UnescapedText, floor: number): SecretPiece | undefined {
    const { units } = text;
    const length = this.forms.length > 0 ? text.length : 0;
    const [has, mask] = [this.#has, this.#has.length - 1];
    let [low, high] = [0, 0];
    for (let end = floor; end < length; end += 1) {
      low = (low >>> 8) | (high << 24);
      high = (high >>> 8) | ((units[end] as number) << 24);
      const at = end + 1 - GRAM;
      if (at < floor) continue;
      const hash = hashOf(low, high) & mask;
      if (has[hash] === 0) continue;
      const found = this.#around(text, at, floor, this.#last[hash] as number);
      if (found) return found;
    }
    return undefined;
  }

  /** The longest piece around a place, of the forms of this entry and those before it. */
  #around(text: UnescapedText, at: number, floor: number, entry: number): SecretPiece | undefined {
    let found: SecretPiece | undefined;
    let end = entry;
    for (let tried = 0; end > 0 && tried < PLACES; tried += 1) {
      const form = this.forms[this.#entries[end - 2] as number] as EncodedForm;
      const place = this.#entries[end - 1] as number;
      end = this.#entries[end - 3] as number;
      const after = sameAfter(text, at, form.units, place);
      const before = sameBefore(text, at, form.units.subarray(0, place), floor);
      const length = before + after;
      if (length < form.least || (found && length <= found.to - found.from)) continue;
      const start = place - before;
      const words = form.text.slice(start, start + length);
      if (PUBLIC.some((each) => each.includes(words))) continue;
      found = { form, from: at - before, to: at + after, start, end: start + length };
    }
    return found;
  }
}
