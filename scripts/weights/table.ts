/** The table of weights, as `npm run weights` writes it. */
import { readSet, type SetName } from '../../libs/extract/test/error-score.ts';
import { learn } from './learn.ts';
import { sampleOf } from './sample.ts';

/** Rules were written with these in view. */
export const KNOWN: readonly SetName[] = ['error-corpus', 'fresh', 'reported', 'unseen'];
/** Of these no rule, or few, had been written when they were measured. */
export const OTHERS: readonly SetName[] = [
  'collected',
  'sealed',
  'later',
  'natural',
  'blind',
  'ordinary',
];

/** Weights are rounded to this; one that rounds to 0 is left out. */
export const STEP = 0.1;

function tableOf(weights: ReadonlyMap<string, number>): string {
  const byWeight = new Map<number, string[]>();
  for (const [feature, weight] of weights) {
    const step = Math.round(weight / STEP);
    if (step !== 0) byWeight.set(step, [...(byWeight.get(step) ?? []), feature]);
  }
  const rows = [...byWeight]
    .toSorted(([a], [b]) => b - a)
    .map(([step, features]) =>
      rowOf(`'${(step * STEP).toFixed(1)}'`, quoted(features.toSorted().join('|'))),
    );
  return `/** What speaks for a line as the cause, and what against it: written by \`npm run weights\`. */
export const WEIGHTS: Readonly<Record<string, string>> = {
${rows.join('\n')}
};
`;
}

/** A row of the table, as the formatter would break it. */
function rowOf(weight: string, features: string): string {
  const row = `  ${weight}: ${features},`;
  return row.length <= 100 ? row : `  ${weight}:\n    ${features},`;
}

function quoted(text: string): string {
  return text.includes("'") ? `"${text}"` : `'${text}'`;
}

/** Learns from all logs that are not held out. */
export function learnedTable(): { text: string; logs: number } {
  const cases = [...KNOWN, ...OTHERS].flatMap(readSet);
  return { text: tableOf(learn(cases.map(sampleOf))), logs: cases.length };
}
