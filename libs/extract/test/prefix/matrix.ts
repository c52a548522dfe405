/** Measures the extractor on every log of the corpus in every prefix. */
import { extractError } from '@runner/extract/extract';
import { type Case, judge, readSet } from '../error-score.ts';
import { LIBRARIES } from './libraries.ts';
import { PLATFORMS } from './platforms.ts';
import { type Prefixing, prefixed } from './prefixing.ts';

/** How many of the logs that are right bare are right in one prefix, and which are not. */
export interface Row {
  readonly name: string;
  readonly logs: number;
  readonly wrong: readonly string[];
}

/** The logs that are answered right as they are, or every nth of them. */
export function rightBare(nth = 1): Case[] {
  const some = readSet('error-corpus').filter((_truth, n) => n % nth === nth - 1);
  return some.filter((truth) => judge(truth, extractError(truth.log).text).ok);
}

export function measure(name: string, cases: readonly Case[], prefixing: Prefixing): Row {
  const wrong = cases.filter(
    (truth) => !judge(truth, extractError(prefixed(truth.log.toString(), prefixing)).text).ok,
  );
  return { name, logs: cases.length, wrong: wrong.map(({ id }) => id) };
}

/** Each prefixing alone. */
export function alone(cases: readonly Case[], which = { ...PLATFORMS, ...LIBRARIES }): Row[] {
  return Object.entries(which).map(([name, prefixing]) => measure(name, cases, prefixing));
}

/** Each prefixing in another one: what a program logs, as its platform shows it. */
export function inPairs(cases: readonly Case[]): Row[] {
  const all = Object.entries({ ...PLATFORMS, ...LIBRARIES });
  return all.map(([name, inner], n) => {
    const [outside, outer] = all[(n * 7 + 3) % all.length] ?? ['', inner];
    const both: Prefixing = (text, place) =>
      inner(text, place)
        .split('\n')
        .map((line) => outer(line, place))
        .join('\n');
    return measure(`${name}, in ${outside}`, cases, both);
  });
}

export function share(rows: readonly Row[]): number {
  const logs = rows.reduce((sum, row) => sum + row.logs, 0);
  return 1 - rows.reduce((sum, row) => sum + row.wrong.length, 0) / Math.max(1, logs);
}
