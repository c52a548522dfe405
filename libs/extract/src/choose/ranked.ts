/** A candidate on its way to its rank, and what several steps ask of it. */
import type { Candidate } from '../line/row.ts';
import { UNMATCHED } from '../rules/labels.ts';

/** A candidate with what counts for its rank. */
export interface Ranked {
  readonly candidate: Candidate;
  readonly score: number;
  /** How much less likely than another line it names the cause: 0 or less. */
  readonly likely: number;
  /** How many lines of the log say this. */
  readonly times: number;
}

/** Whether a rule matches the line. */
export function isMatched({ candidate }: Ranked): boolean {
  return candidate.rule !== UNMATCHED;
}
