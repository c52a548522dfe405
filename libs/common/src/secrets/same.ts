/** How far a compact text and a form are the same. */
import type { Compact } from './compact.ts';

/** How many characters are the same from these places on. */
export function sameAfter(
  { units, length }: Compact,
  at: number,
  form: Uint8Array,
  place: number,
): number {
  let same = 0;
  const most = Math.min(length - at, form.length - place);
  while (same < most && units[at + same] === form[place + same]) same += 1;
  return same;
}

/** How many characters are the same before these places. */
export function sameBefore(
  { units }: Compact,
  at: number,
  form: Uint8Array,
  place: number,
  floor = 0,
): number {
  let same = 0;
  const most = Math.min(at - floor, place);
  while (same < most && units[at - same - 1] === form[place - same - 1]) same += 1;
  return same;
}
