/** Keeps few of many candidates: of each rule those that may turn out to tell the cause. */
import type { Candidate, Row } from '../line/row.ts';

/** Candidates kept of one rule, and of one rule in one step of the deploy. */
const PER_RULE = 14;
const PER_STEP = 6;
/** Candidates kept of one shape; the others, as retries print them, are only counted. */
const PER_SHAPE = 3;
/** Lines after which another message of the same rule is another matter. */
const FAR = 60;

/** The candidates that may still be chosen: few of each rule. */
export interface Shortlist {
  /** Takes the candidate that `make` gives, or only counts the line. */
  offer(row: Row, facts: Pick<Candidate, 'rule' | 'epoch'>, make: () => Candidate): void;
  all(): Candidate[];
}

/** A shortlist without candidates. */
export function createShortlist(): Shortlist {
  const byRule = new Map<string, Candidate[]>();
  return {
    all: () => [...byRule.values()].flat(),
    offer({ key, line, shape }, { rule, epoch }, make) {
      const kept = byRule.get(rule.name) ?? [];
      byRule.set(rule.name, kept);
      shape.offered += 1;
      if (shape.offered > PER_SHAPE) {
        const same = kept.findLastIndex((other) => other.row.key === key);
        if (same >= 0 && rule.pick === 'first') return;
        if (same >= 0) kept.splice(same, 1);
      }
      const last = kept.at(-1);
      const full = last?.epoch === epoch && kept.at(-PER_STEP)?.epoch === epoch;
      if (full) {
        if (rule.pick === 'first' && line - last.row.line < FAR) return;
        kept.pop();
      }
      kept.push(make());
      // The first two stay: a cause may stand at the very top of a long cascade.
      if (kept.length > PER_RULE) kept.splice(2, 1);
    },
  };
}
