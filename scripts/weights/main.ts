/**
 * `npm run weights`: learns from the logs in `libs/extract/test` what words, form and place say of a
 * line, and writes the table of `libs/extract/src/choose/weights.ts`. The same logs give the same table.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanText } from '@runner/common/text/plain';
import { noBaseline } from '@runner/extract/choose/baseline';
import { featuresOf } from '@runner/extract/choose/features';
import { endsOf, rowsOf } from '@runner/extract/choose/likely';
import { rank } from '@runner/extract/choose/rank';
import { collect } from '@runner/extract/extract';
import { UNMATCHED } from '@runner/extract/rules/labels';
import {
  type Case,
  readCollected,
  readCorpus,
  readFresh,
  readLater,
  readReported,
  readSealed,
  readUnseen,
} from '../../libs/extract/test/error-score.ts';
import { learn, type Sample } from './learn.ts';

const TABLE = join('libs', 'extract', 'src', 'choose', 'weights.ts');
/** Weights are rounded to this; one that rounds to 0 is left out. */
const STEP = 0.1;

/** The rows of a log, each with what it is worth without the table and with how much of the truth it names. */
function sampleOf({ log, tool, family, must_include }: Case): Sample {
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
      };
    }),
  };
}

function plain(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ').trim();
}

function tableOf(weights: ReadonlyMap<string, number>): string {
  const byWeight = new Map<number, string[]>();
  for (const [feature, weight] of weights) {
    const step = Math.round(weight / STEP);
    if (step !== 0) byWeight.set(step, [...(byWeight.get(step) ?? []), feature]);
  }
  const rows = [...byWeight]
    .toSorted(([a], [b]) => b - a)
    .map(([step, features]) =>
      rowOf((step * STEP).toFixed(1).replace(/\.0$/, ''), quoted(features.toSorted().join('|'))),
    );
  return `/** What speaks for a line as the cause, and what against it: written by \`npm run weights\`. */
export const WEIGHTS: readonly (readonly [weight: number, features: string])[] = [
${rows.join('\n')}
];
`;
}

/** A row of the table, as the formatter would break it. */
function rowOf(weight: string, features: string): string {
  const row = `  [${weight}, ${features}],`;
  return row.length <= 100 ? row : `  [\n    ${weight},\n    ${features},\n  ],`;
}

function quoted(text: string): string {
  return text.includes("'") ? `"${text}"` : `'${text}'`;
}

const cases = [
  ...readCorpus(),
  ...readFresh(),
  ...readReported(),
  ...readUnseen(),
  ...readSealed(),
  ...readLater(),
  ...readCollected(),
];
const weights = learn(cases.map(sampleOf));
writeFileSync(TABLE, tableOf(weights));
process.stdout.write(`${TABLE}: from ${cases.length} logs\n`);
