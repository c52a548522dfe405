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

/**
 * Where signs end that begin at a place of the text, in whatever form; the place itself without any. With `step` -1:
 * where those begin that end there.
 */
export function pastSigns(
  plain: UnescapedText,
  place: number,
  signs: readonly number[],
  step: 1 | -1,
): number {
  let edge = place;
  let index = step === 1 ? indexAt(plain, place) : indexAt(plain, place) - 1;
  for (const sign of step === 1 ? signs : signs.toReversed()) {
    if (index < 0 || index >= plain.length || plain.units[index] !== sign) break;
    edge = (step === 1 ? plain.to : plain.from)[index] as number;
    index += step;
  }
  return edge;
}
