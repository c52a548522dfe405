/** Values of `.deploy.yml` and how a wrong one is refused. */
import { durationOf } from '../text/time.ts';

/** The refusal of a key, with its line. */
export type Fail = (key: string, what: string) => Error;

/** The longest timer of Node, 24.8 days; a longer one would fire at once. */
const TIMER_MAX = 2_147_483_647;

/** A duration in milliseconds. */
export function milliseconds(text: unknown, fallback: number): number {
  return Math.min(TIMER_MAX, (typeof text === 'string' && durationOf(text)) || fallback);
}

export const listOf = (value: unknown): readonly string[] =>
  [(value ?? []) as string | string[]].flat();
