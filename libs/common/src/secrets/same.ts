/** How far a reading and a form are the same. */
import type { UnescapedText } from './unescaped.ts';

/** How many characters are the same from these places on. */
export function sameAfter(
  { units, length }: UnescapedText,
  at: number,
  form: Uint16Array,
  place: number,
): number {
  let same = 0;
  const most = Math.min(length - at, form.length - place);
  while (same < most && units[at + same] === form[place + same]) same += 1;
  return same;
}

/** How many characters before a place, down to `floor`, are the same as at the end of `wanted`. */
export function sameBefore(
  { units }: UnescapedText,
  at: number,
  wanted: Uint16Array,
  floor = 0,
): number {
  let same = 0;
  const { length } = wanted;
  const most = Math.min(at - floor, length);
  while (same < most && units[at - same - 1] === wanted[length - same - 1]) same += 1;
  return same;
}
