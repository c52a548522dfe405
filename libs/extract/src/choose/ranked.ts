/** A candidate on its way to its rank, and what several steps ask of it. */
import { marks } from '../line/marks.ts';
import type { Candidate } from '../line/row.ts';
import { LABELLED, UNMATCHED } from '../rules/labels.ts';
import { blockOf } from './block.ts';

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

/** Whether the words or the label of the line are all that speaks for it. */
export function isVague({ rule }: Candidate): boolean {
  return rule.weak || rule === LABELLED;
}

/** Whether the message's place stands beside it. */
export function isPlaced(candidate: Candidate): boolean {
  return blockOf(candidate).some(
    ({ row, need }) => need === 0 && row.line !== candidate.row.line && marks.isPlace(row.trimmed),
  );
}
