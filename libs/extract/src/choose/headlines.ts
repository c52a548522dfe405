/** Headlines say that something failed, and not what: the message beside them leads in their place. */
import { marks } from '../line/marks.ts';
import type { Candidate, Row } from '../line/row.ts';
import { readLabels } from '../line/severity.ts';
import { blockOf } from './block.ts';
import { isPlaced, isVague, type Ranked } from './ranked.ts';
import { NAMES_NOTHING } from './reading.ts';

/** The candidates; a detail has the score of its headline, which comes after it. */
export function withoutHeadlines(ranked: readonly Ranked[]): Ranked[] {
  const scores = new Map(ranked.map(({ candidate, score }) => [candidate, score]));
  const details = ranked
    .filter(({ candidate, score }) => score >= DETAIL && isDetail(candidate))
    .toSorted((a, b) => a.candidate.row.line - b.candidate.row.line);
  for (const { candidate, score } of ranked) {
    if (!isHeadline(candidate)) continue;
    const { row, job } = candidate;
    const near = details.filter(
      (other) => other.candidate.job === job && other.candidate.row.speaker === row.speaker,
    );
    const detail =
      near.find((other) => isWithin(other.candidate.row.line - row.line, BELOW)) ??
      (standsAlone(candidate)
        ? near.findLast((other) => isWithin(row.line - other.candidate.row.line, ABOVE))
        : undefined);
    if (detail === undefined) continue;
    const raised = Math.max(scores.get(detail.candidate) ?? 0, score);
    scores.set(detail.candidate, raised);
    scores.set(candidate, raised - HEADLINE);
  }
  return ranked.map((each) => ({ ...each, score: scores.get(each.candidate) ?? each.score }));
}

/** The score that a detail needs, and lines between it and its headline. */
const DETAIL = 50;
const BELOW = 10;
const ABOVE = 6;
/** How much less than its detail a headline counts. */
const HEADLINE = 8;

/** The last words of a program that has said why. */
const GAVE_UP = /\b(?:exiting|aborting|giving up|quitting|shutting down)\W{0,3}$/i;
const CLOSING = /\b(?:failed|aborted|cancell?ed|stopping)\W{0,3}$/i;

function isWithin(lines: number, most: number): boolean {
  return lines > 0 && lines <= most;
}

function isHeadline(candidate: Candidate): boolean {
  const { rule, row } = candidate;
  if (rule.use !== 'cause' || rule.class === 'test') return false;
  if (GAVE_UP.test(row.trimmed)) return true;
  if (isVague(candidate) && CLOSING.test(row.trimmed)) return true;
  return namesNothing(row) && !isPlaced(candidate);
}

function isDetail({ rule, row, aftermath }: Candidate): boolean {
  if (rule.use !== 'cause' || rule.class === 'test' || aftermath) return false;
  return (
    !namesNothing(row) &&
    !CLOSING.test(row.trimmed) &&
    !GAVE_UP.test(row.trimmed) &&
    !row.trimmed.endsWith(':') &&
    !marks.isHarmless(row.trimmed)
  );
}

/** Whether no line below belongs to the candidate. */
function standsAlone(candidate: Candidate): boolean {
  return !blockOf(candidate).some(
    ({ row, need }) => need === 0 && row.line > candidate.row.line && !marks.isForeign(row.trimmed),
  );
}

function namesNothing({ trimmed }: Row): boolean {
  return NAMES_NOTHING.test(readLabels(trimmed).message.replace(/^\*\* \(\w+\) /, ''));
}
