/** Ranks candidates: which one leads, and which others are worth a line. */
import type { Baseline } from './baseline.ts';
import { blockOf } from './block.ts';
import type { Collected } from './collect.ts';
import type { Candidate } from './row.ts';
import { LABELLED } from './rules-words.ts';

/** What moves a score: chosen so that a rule's tier (10 points) is seldom crossed by one of them. */
const LATE = 30;
const KNOWN = 60;
const OFTEN = 8;
const OLD_STEP = 3;
/** A test's name alone, and an announcement whose message was found, say less than others. */
const NAME_ONLY = 8;
const ANNOUNCED = 20;
/** Lines between two candidates that have nothing to do with each other. */
const CLUSTER_GAP = 8;

/** A candidate with what counts for its rank. */
export interface Ranked {
  readonly candidate: Candidate;
  readonly score: number;
  /** How many lines of the log say this. */
  readonly times: number;
  /** Candidates close to each other in the log have one number, which grows with the lines. */
  readonly cluster: number;
}

/** All candidates, the one that tells the cause first, then in the order in which they help. */
export function rank(collected: Collected, baseline: Baseline): Ranked[] {
  const { candidates, repeats } = collected;
  const lastEpoch = candidates.reduce(
    (last, { epoch, aftermath, score }) =>
      !aftermath && score >= 60 ? Math.max(last, epoch) : last,
    0,
  );
  const clusters = clustersOf(candidates);
  const ranked = candidates.map((candidate): Ranked => {
    const times = repeats.of(candidate.row.key);
    let score = candidate.score;
    if (candidate.aftermath) score -= LATE;
    if (baseline(candidate.row.text)) score -= KNOWN;
    if (times >= 5) score -= candidate.rule.weak ? 3 * OFTEN : OFTEN;
    if (candidate.rule.use === 'announce') score -= ANNOUNCED;
    if (candidate.rule.pick === 'last' && isSource(candidate)) score -= LATE;
    if (candidate.rule.use === 'test' && !explains(candidate)) score -= NAME_ONLY;
    score -= Math.min(12, OLD_STEP * Math.max(0, lastEpoch - candidate.epoch));
    return { candidate, score, times, cluster: clusters.get(candidate) ?? 0 };
  });
  return ranked.toSorted(compare);
}

function clustersOf(candidates: readonly Candidate[]): Map<Candidate, number> {
  const clusters = new Map<Candidate, number>();
  let number = 0;
  let last = 0;
  for (const candidate of candidates.toSorted((a, b) => a.row.line - b.row.line)) {
    if (candidate.row.line - last > CLUSTER_GAP) number += 1;
    last = candidate.row.line;
    clusters.set(candidate, number);
  }
  return clusters;
}

/** Whether the line is source code that names an error, with the mark of the place under it. */
function isSource({ after }: Candidate): boolean {
  return /^[~^]+$/.test(after[0]?.trimmed ?? '');
}

/** Whether anything but the test's name would be shown. */
function explains(candidate: Candidate): boolean {
  return (
    /: \S/.test(candidate.row.trimmed.replace(/^\W{0,4}(?:FAIL|ERROR|FAILED):? /, '')) ||
    blockOf(candidate).some(({ row, need }) => need === 0 && row.line > candidate.row.line)
  );
}

/** Higher score; among near equals the later step, and inside a step what the rule asks for. */
function compare(a: Ranked, b: Ranked): number {
  const difference = Math.round(b.score / 4) - Math.round(a.score / 4);
  if (difference !== 0) return difference;
  if (a.candidate.epoch !== b.candidate.epoch) return b.candidate.epoch - a.candidate.epoch;
  const line = a.candidate.row.line - b.candidate.row.line;
  if (a.candidate.rule.weak || a.candidate.rule === LABELLED) {
    return a.cluster === b.cluster ? line : b.cluster - a.cluster;
  }
  const last = a.candidate.rule.pick === 'last' && b.candidate.rule.pick === 'last';
  return last ? -line : line;
}
