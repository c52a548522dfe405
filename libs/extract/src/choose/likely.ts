/** How likely each line is to name the cause, by weights that `npm run weights` learns from logs. */
import type { Collected } from '../collect/collect.ts';
import { marks } from '../line/marks.ts';
import type { Candidate, Row } from '../line/row.ts';
import { UNMATCHED } from '../rules/labels.ts';
import { featuresOf } from './features.ts';
import { WEIGHTS } from './weights.ts';

/** By feature; the cross-validation of `scripts/weights` changes it. */
export const WEIGHT = new Map(
  Object.entries(WEIGHTS).flatMap(([weight, features]) =>
    features.split('|').map((each) => [each, Number(weight)] as const),
  ),
);

/** The rows that may name the cause, matched by a rule or not, in the log's order. */
export function rowsOf({ candidates, rare, lastRows }: Collected): Row[] {
  const rows = [...rare, ...candidates.map(({ row }) => row), ...lastRows];
  return [...new Map(rows.map((row) => [row.line, row])).values()].toSorted(
    (a, b) => a.line - b.line,
  );
}

/** The numbers of the lines that only say that something failed. */
export function endsOf(candidates: readonly Candidate[]): number[] {
  return candidates.filter(({ rule }) => rule.use === 'wrapper').map(({ row }) => row.line);
}

/** By the line of each candidate, how much less likely it names the cause than the likeliest one: 0 or less. */
export function likelihoods(
  rows: readonly Row[],
  candidates: readonly Candidate[],
): Map<number, number> {
  const sums = new Map(
    featuresOf(rows, endsOf(candidates)).map((features, at) => [
      rows[at]?.line,
      features.reduce((sum, each) => sum + (WEIGHT.get(each) ?? 0), 0),
    ]),
  );
  const own = candidates.map(({ row }) => [row.line, sums.get(row.line) ?? 0] as const);
  const best = Math.max(...own.map(([, sum]) => sum));
  return new Map(own.map(([line, sum]) => [line, sum - best]));
}

/** Lines around a row that no rule matches. */
const BEFORE = 6;
const AFTER = 12;

/** Lines kept of a log that says nothing at all. */
const LAST = 4;

/** Lines of one shape that may still say something. */
const RARE = 2;

/** Whether a line may say something: it has a word, and is rare. */
function says({ trimmed, shape }: Row): boolean {
  return shape.seen <= RARE && /\p{L}{2}/u.test(trimmed) && !marks.heading.test(trimmed);
}

/** Candidates for the rows that no rule matches. */
export function unmatched(candidates: readonly Candidate[], rows: readonly Row[]): Candidate[] {
  const known = new Set(candidates.map(({ row }) => row.line));
  const others = rows.filter(({ line }) => !known.has(line));
  const saying = others.filter(says);
  return (saying.length > 0 || known.size > 0 ? saying : others.slice(-LAST)).map((row) => {
    const near = rows.filter(
      ({ speaker, line }) =>
        speaker === row.speaker && line >= row.line - BEFORE && line <= row.line + AFTER,
    );
    return {
      rule: UNMATCHED,
      score: UNMATCHED.score,
      row,
      epoch: 0,
      job: 0,
      before: near.filter(({ line }) => line < row.line),
      after: near.filter(({ line }) => line > row.line),
      around: {},
    };
  });
}
