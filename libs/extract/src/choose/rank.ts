/** Ranks candidates: which one leads, and which others are worth a line. */

import type { Collected } from '../collect/collect.ts';
import { marks } from '../line/marks.ts';
import type { Candidate } from '../line/row.ts';
import { severityOfRow } from '../line/severity.ts';
import { UNMATCHED } from '../rules/labels.ts';
import type { Baseline } from './baseline.ts';
import { likelihoods, rowsOf, unmatched } from './likely.ts';

export interface Ranked {
  readonly candidate: Candidate;
  readonly score: number;
  /** How much less likely than another line it names the cause: 0 or less. */
  readonly likely: number;
}

/** Whether a rule matches the line. */
export function isMatched({ candidate }: Ranked): boolean {
  return candidate.rule !== UNMATCHED;
}

/** How much less a line counts that good builds print too. */
const KNOWN = 80;
/** The same of one that the next line says is no obstacle. */
const TOLERATED = 30;
/** The same of an announcement, beside its message. */
const ANNOUNCED = 20;
/** How much more a line counts of a program that others could not reach. */
const UNREACHED = 100;

/** All candidates, best first. */
export function rank(collected: Collected, baseline: Baseline): Ranked[] {
  const rows = rowsOf(collected);
  const candidates = [...collected.candidates, ...unmatched(collected.candidates, rows)];
  const likely = likelihoods(rows, candidates);
  const refusals = candidates.filter(({ row }) => REFUSALS.test(row.trimmed));
  const ranked = candidates.map((candidate): Ranked => {
    const { row, rule } = candidate;
    const isKnown = baseline(row.text);
    let score = candidate.score;
    if (isKnown) score -= KNOWN;
    // What was tried again and failed each time may well be the cause.
    if (row.shape.offered < 3 && isTolerated(candidate)) score -= TOLERATED;
    if (rule.use === 'announce') score -= ANNOUNCED;
    if (isUnreached(candidate, refusals)) score += UNREACHED;
    return {
      candidate,
      score,
      likely: isKnown ? FLOOR : Math.max(FLOOR, likely.get(row.line) ?? FLOOR),
    };
  });
  return ranked.toSorted(compare);
}

/** What a likelihood counts beside a score. */
const WORDS = 14;
/** Less likely lines are equally unlikely. */
const FLOOR = -4;
function orderOf({ score, likely }: Ranked): number {
  return score + WORDS * likely;
}

/** Whether the line right below says that the program goes on. */
function isTolerated({ row, after }: Candidate): boolean {
  const next = after[0];
  if (next === undefined || next.line - row.line > 2) return false;
  return marks.tolerating.test(next.trimmed) && severityOfRow(next) !== 'error';
}

/** What others say of a program that is not up: those that connect, wait, check it or stop it. */
const REFUSALS =
  /\bECONNREFUSED\b|connection ?refused|failed to connect to|could not connect\b|\bENOTFOUND\b|\bEAI_AGAIN\b|not translate host|Name or service not known|no such host|timed out waiting for the condition|context deadline exceeded|exceeded its progress deadline|the database system is (?:starting up|shutting down|in recovery)|role "root" does not exist|no such container|container .{1,100} (?:is not available|is waiting to start)|connection not available|^health[\w -]{0,30}:|\bcreation cancelled$/i;

/** Whether others name the candidate's speaker, a service or its container, as the host that they cannot reach. */
function isUnreached({ row, rule }: Candidate, refusals: readonly Candidate[]): boolean {
  const name = /^([a-z][\w.-]*?)(?:[-_]\d+)?$/.exec(row.speaker)?.[1];
  if (name === undefined || rule.use !== 'cause') return false;
  const names = (text: string) =>
    text.split(/[\s:/"',]+/).some((word) => word === name || name.endsWith(`-${word}`));
  return refusals.some(({ row: other }) => other.speaker !== row.speaker && names(other.trimmed));
}

/** Higher score; among near equals the later step, and inside a step what the rule asks for. */
function compare(a: Ranked, b: Ranked): number {
  return Math.round(orderOf(b) / 4) - Math.round(orderOf(a) / 4) || compareByRules(a, b);
}

/** The same without the words of the lines. */
export function compareByRules(a: Ranked, b: Ranked): number {
  const difference = Math.round(b.score / 4) - Math.round(a.score / 4);
  if (difference !== 0) return difference;
  // A later job often only reports that another one failed.
  if (a.candidate.job !== b.candidate.job) return a.candidate.job - b.candidate.job;
  if (a.candidate.epoch !== b.candidate.epoch) return b.candidate.epoch - a.candidate.epoch;
  const line = a.candidate.row.line - b.candidate.row.line;
  const last = a.candidate.rule.pick === 'last' && b.candidate.rule.pick === 'last';
  return last ? -line : line;
}
