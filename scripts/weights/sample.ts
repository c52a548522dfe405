/** A log of the repository as the weights are learned from it. */
import { noBaseline } from '@runner/extract/choose/baseline';
import { featuresOf } from '@runner/extract/choose/features';
import { endsOf, rowsOf } from '@runner/extract/choose/likely';
import { rank } from '@runner/extract/choose/rank';
import { collect } from '@runner/extract/extract';
import { UNMATCHED } from '@runner/extract/rules/labels';
import { type Case, plain } from '../../libs/extract/test/error-score.ts';
import type { Sample } from './learn.ts';

/** The rows of a log, each with what it is worth without the table and with how much of the truth it names. */
export function sampleOf({
  log,
  tool,
  family,
  must_include,
  must_not_lead_with = [],
}: Case): Sample {
  const collected = collect(log);
  const rows = rowsOf(collected);
  // By score alone: the order of `rank` depends on the table that this run replaces.
  const ranked = rank(collected, noBaseline)
    .filter(({ candidate }) => candidate.rule !== UNMATCHED)
    .toSorted((a, b) => a.score - b.score);
  const candidates = ranked.map(({ candidate }) => candidate);
  const byLine = new Map(ranked.map((each) => [each.candidate.row.line, each]));
  const features = featuresOf(rows, endsOf(candidates));
  return {
    tool: tool ?? family,
    rows: rows.map((row, at) => {
      const text = plain(row.body);
      const named = must_include.filter((needed) =>
        [needed].flat().some((one) => text.includes(plain(one))),
      );
      const found = byLine.get(row.line);
      const most = found?.candidate.rule.use === 'wrapper' ? 30 : 200;
      return {
        features: features[at] ?? [],
        score: Math.min(found?.score ?? UNMATCHED.score, most),
        truth: named.length / must_include.length,
        misleads: named.length === 0 && must_not_lead_with.some((one) => text.includes(plain(one))),
      };
    }),
  };
}
