/** The pieces of a form that stand in the lines before and after a piece, behind a prefix or an offset. */

import type { SecretPiece } from './pieces.ts';
import { sameAfter, sameBefore } from './same.ts';
import type { UnescapedText } from './unescaped.ts';

/** What may stand between two lines of a form: a prefix, an offset, the text beside a dump. */
const GAP = 96;
/** How much of the form must follow it. */
const AGAIN = 8;
const AGAIN_MIN = 4;
/** How much of a prefix may by chance be what the form continues with. */
const CHANCE = 3;

/** The piece with which the form continues. */
export function laterPiece(
  text: string,
  reading: UnescapedText,
  piece: SecretPiece,
): SecretPiece | undefined {
  for (let chance = 0; chance <= CHANCE; chance += 1) {
    const { to, end } = piece;
    const found = laterFrom(text, reading, { ...piece, to: to - chance, end: end - chance });
    if (found) return found;
  }
  return undefined;
}

function laterFrom(
  text: string,
  reading: UnescapedText,
  piece: SecretPiece,
): SecretPiece | undefined {
  const { form, to, end } = piece;
  const wanted = form.units.subarray(end, end + AGAIN);
  const last = Math.min(to + GAP, reading.length - wanted.length);
  for (let at = to + 1; at <= last; at += 1) {
    if (stands(reading, at, wanted) && breaks(text, reading, to, at)) {
      const length = sameAfter(reading, at, form.units, end);
      return { form, from: at, to: at + length, start: end, end: end + length };
    }
  }
  return undefined;
}

/** The piece with which the form comes up to this one. */
export function earlierPiece(
  text: string,
  reading: UnescapedText,
  piece: SecretPiece,
): SecretPiece | undefined {
  const { form, from, start } = piece;
  const wanted = form.units.subarray(Math.max(0, start - AGAIN), start);
  const first = Math.max(0, from - GAP - wanted.length);
  for (let at = from - wanted.length - 1; at >= first; at -= 1) {
    const to = at + wanted.length;
    if (stands(reading, at, wanted) && breaks(text, reading, to, from)) {
      const length = sameBefore(reading, to, form.units.subarray(0, start));
      return { form, from: to - length, to, start: start - length, end: start };
    }
  }
  return undefined;
}

/** Whether enough of a form stands here. */
function stands({ units }: UnescapedText, at: number, wanted: Uint16Array): boolean {
  return wanted.length >= AGAIN_MIN && wanted.every((unit, index) => units[at + index] === unit);
}

/** Whether a line ends between what ends at `to` and what begins at `from`. */
function breaks(text: string, places: UnescapedText, to: number, from: number): boolean {
  return text.slice(places.to[to - 1], places.from[from]).includes('\n');
}
