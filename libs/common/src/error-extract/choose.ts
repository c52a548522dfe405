/** Ranks candidates: which one leads, and which others are worth a line. */
import { blockOf } from './block.ts';
import type { Collected } from './collect.ts';
import type { Candidate } from './row.ts';

/** What moves a score: chosen so that a rule's tier (10 points) is seldom crossed by one of them. */
const LATE = 30;
const KNOWN = 60;
const OFTEN = 8;
const OLD_STEP = 3;
/** A test's name alone, and an announcement whose message was found, say less than others. */
const NAME_ONLY = 8;
const ANNOUNCED = 20;

export interface Ranked {
  readonly candidate: Candidate;
  readonly score: number;
  /** How many lines of the log say this. */
  readonly times: number;
}

/** All candidates, the one that tells the cause first, then in the order in which they help. */
export function rank(collected: Collected, baseline: ReadonlySet<string>): Ranked[] {
  const { candidates, repeats } = collected;
  const lastEpoch = candidates.reduce(
    (last, { epoch, aftermath, score }) => (!aftermath && score >= 60 ? Math.max(last, epoch) : last),
    0,
  );
  const ranked = candidates.map((candidate): Ranked => {
    const times = repeats.of(candidate.shape);
    let score = candidate.score;
    if (candidate.aftermath) score -= LATE;
    if (baseline.size > 0 && baseline.has(candidate.shape)) score -= KNOWN;
    if (times >= 5) score -= OFTEN;
    if (candidate.rule.use === 'announce') score -= ANNOUNCED;
    if (candidate.rule.use === 'test' && !explains(candidate)) score -= NAME_ONLY;
    score -= Math.min(12, OLD_STEP * Math.max(0, lastEpoch - candidate.epoch));
    return { candidate, score, times };
  });
  return ranked.toSorted(compare);
}

/** Whether anything but the test's name would be shown. */
function explains(candidate: Candidate): boolean {
  return /: \S/.test(candidate.row.trimmed) || blockOf(candidate).some(({ row, need }) => need === 0 && row.line > candidate.row.line);
}

/** Higher score; among near equals the later step, and inside a step what the rule asks for. */
function compare(a: Ranked, b: Ranked): number {
  const difference = Math.round(b.score / 4) - Math.round(a.score / 4);
  if (difference !== 0) return difference;
  if (a.candidate.epoch !== b.candidate.epoch) return b.candidate.epoch - a.candidate.epoch;
  const line = a.candidate.row.line - b.candidate.row.line;
  const last = a.candidate.rule.pick === 'last' && b.candidate.rule.pick === 'last';
  return last ? -line : line;
}
