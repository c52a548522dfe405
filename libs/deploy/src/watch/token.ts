/** When the end of a token is announced. */

const DAY = 86_400_000;

/** Days before the end of a token at which it is announced. */
const STAGES = [1, 3, 7, 14];

/** The stage that a token has reached, and when it ends in words; undefined if its end is not near. */
export function tokenEnding(
  ends: string | undefined,
  now: Date,
): { readonly days: number; readonly words: string } | undefined {
  const left = Date.parse(ends ?? '') - now.getTime();
  const days = STAGES.find((stage) => left <= stage * DAY);
  if (days === undefined) return undefined;
  if (left < 0) return { days, words: `the token ended at ${ends}` };
  const whole = Math.ceil(left / DAY);
  return { days, words: `the token ends in ${whole} day${whole === 1 ? '' : 's'}, at ${ends}` };
}
