/** The steps of a sequence: made at random from a seed, and written as one line of text. */
import { randomOf } from '@runner/testing/random';

/**
 * One step as words: `push good|build|health INSTANCES KEEP`, `deploy [vN]`, `fetch`,
 * `rollback [vN]`, `kill FRACTION deploy|fetch|rollback [vN]`, `clock SECONDS`.
 */
export type Step = readonly string[];

/** What a commit of a sequence may name; most have one instance, as most apps do. */
const INSTANCES = ['default', 'default', 'default', 'default', 'api,web', 'api', 'default,web'];
const KINDS = ['good', 'good', 'good', 'build', 'health'];
const HOUR = 3_600;

/** How often each step comes, relative to the others. */
const WEIGHTS: readonly (readonly [kind: string, weight: number])[] = [
  ['push', 4],
  ['deploy', 3],
  ['ref', 2],
  ['fetch', 6],
  ['rollback', 4],
  ['to', 3],
  ['kill', 2],
  ['clock', 2],
];

/** What is killed. */
const KILLED = ['deploy', 'deploy', 'ref', 'fetch', 'rollback', 'to'];

const killOf = (fraction: string, step: Step): Step => ['kill', fraction, ...step];

/** Makes `count` steps; the first four are two good deploys, so that there is something to leave. */
export function makeSteps(seed: number, count: number): Step[] {
  const random = randomOf(seed);
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const kinds = WEIGHTS.flatMap(([kind, weight]) => Array<string>(weight).fill(kind));
  const keep = pick(['2', '3', '5', '5']);
  const usual = pick(INSTANCES);
  const push = (kind: string): Step => {
    const instances = random() < 0.7 ? usual : pick(INSTANCES);
    return ['push', kind, instances, keep];
  };
  const steps: Step[] = [push('good'), ['deploy'], push('good'), ['fetch']];
  let versions = 2;
  const version = () => `v${1 + Math.floor(random() * versions)}`;
  const make = (kind: string): Step => {
    if (kind === 'push') {
      versions += 1;
      return push(pick(KINDS));
    }
    if (kind === 'ref') return ['deploy', version()];
    if (kind === 'to') return ['rollback', version()];
    if (kind === 'kill') return killOf(random().toFixed(2), make(pick(KILLED)));
    if (kind === 'clock') return ['clock', String(Math.round((random() - 0.5) * 4 * HOUR))];
    return [kind];
  };
  while (steps.length < count) steps.push(make(pick(kinds)));
  return steps;
}

export function textOf(steps: readonly Step[]): string {
  return steps.map((step) => step.join(' ')).join('; ');
}

export function stepsIn(text: string): Step[] {
  return text.split(';').map((step) => step.trim().split(/\s+/));
}
