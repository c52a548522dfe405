/** The signs at the ends of a secret, which its letters and digits alone do not show. */
import type { UnescapedText } from './unescaped.ts';

/** Characters that are no letters or digits, as units. */
export interface SecretEdges {
  readonly before: readonly number[];
  readonly after: readonly number[];
}

const NO_EDGES: SecretEdges = { before: [], after: [] };
const LETTER = /[A-Za-z0-9]/;

/** The signs before and after the letters and digits of a value. */
export function edgesOf({ units, length }: UnescapedText): SecretEdges {
  const all = [...units.subarray(0, length)];
  const isLetter = (unit: number) => LETTER.test(String.fromCharCode(unit));
  const first = all.findIndex(isLetter);
  if (first === -1) return NO_EDGES;
  return { before: all.slice(0, first), after: all.slice(all.findLastIndex(isLetter) + 1) };
}

/** The index of the first character of a reading that begins at a place of the text, or after it. */
function indexAt({ from, length }: UnescapedText, place: number): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((from[middle] as number) < place) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Where signs end that begin at a place of the text, in whatever form; the place itself without any. */
export function afterSigns(plain: UnescapedText, place: number, signs: readonly number[]): number {
  let end = place;
  let index = indexAt(plain, place);
  for (const sign of signs) {
    if (index >= plain.length || plain.units[index] !== sign) break;
    end = plain.to[index] as number;
    index += 1;
  }
  return end;
}

/** Where signs begin that end at a place of the text. */
export function beforeSigns(plain: UnescapedText, place: number, signs: readonly number[]): number {
  let begin = place;
  let index = indexAt(plain, place) - 1;
  for (const sign of [...signs].reverse()) {
    if (index < 0 || plain.units[index] !== sign) break;
    begin = plain.from[index] as number;
    index -= 1;
  }
  return begin;
}
