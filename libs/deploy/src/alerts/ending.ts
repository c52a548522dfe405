/** The stages at which the end of a token or certificate is announced. */
export const DAY = 86_400_000;

export type NearEnd = NonNullable<ReturnType<typeof endingAt>>;

/**
 * The last stage that an end has reached, in days before it, and the end in words; undefined if it is not near.
 * `stages` are days, the shortest first.
 */
export function endingAt(ends: string | undefined, now: Date, stages: readonly number[]) {
  const left = Date.parse(ends ?? '') - now.getTime();
  const days = stages.find((stage) => left <= stage * DAY);
  if (days === undefined) return undefined;
  if (left < 0) return { days, words: `ended at ${ends}` };
  const whole = Math.ceil(left / DAY);
  return { days, words: `expires in ${whole} day${whole === 1 ? '' : 's'}, at ${ends}` };
}
