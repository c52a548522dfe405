/** Cross-validation: each log is answered with weights that were learned from the logs of other tools. */
import { createHash } from 'node:crypto';
import { WEIGHT } from '@runner/extract/choose/likely';
import { extractError } from '@runner/extract/extract';
import {
  type Case,
  judge,
  type Result,
  readSet,
  type SetName,
  scoreRow,
} from '../../libs/extract/test/error-score.ts';
import { learn } from './learn.ts';
import { sampleOf } from './sample.ts';

/** Parts into which the tools are divided. */
const PARTS = 10;

/** A table of the score on each of `sets`; weights are learned from `known` and from the other parts. */
export function check(
  knownSets: readonly SetName[],
  otherSets: readonly SetName[],
  step: number,
): string {
  const known = knownSets.flatMap(readSet);
  const sets = otherSets.map((name) => [name, readSet(name)] as const);
  const cases = sets.flatMap(([, list]) => list);
  const samples = new Map([...known, ...cases].map((each) => [each, sampleOf(each)]));
  const results = new Map<Case, Result>();
  for (let part = 0; part < PARTS; part += 1) {
    const others = [...samples].filter(([each]) => known.includes(each) || partOf(each) !== part);
    use(learn(others.map(([, sample]) => sample)), step);
    for (const truth of cases.filter((each) => partOf(each) === part))
      results.set(truth, { truth, ...judge(truth, extractError(truth.log).text) });
  }
  const row = (name: string, list: readonly Case[]) =>
    scoreRow(
      name,
      list.flatMap((each) => results.get(each) ?? []),
    );
  const rows = sets.map(([name, list]) => row(name, list));
  return [...rows, row('all', cases)].join('');
}

function partOf({ tool }: Case): number {
  return createHash('sha256').update(tool).digest().readUInt32BE() % PARTS;
}

/** Makes the extractor use other weights, rounded as those of its table. */
function use(weights: ReadonlyMap<string, number>, step: number): void {
  WEIGHT.clear();
  for (const [feature, weight] of weights) {
    const steps = Math.round(weight / step);
    if (steps !== 0) WEIGHT.set(feature, steps * step);
  }
}
