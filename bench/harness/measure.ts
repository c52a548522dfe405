/**
 * Times whole processes against each other: interleaved, in random order, after a warm-up, so that
 * a machine whose speed drifts still gives a true ratio. Absolute times mean little; ratios count.
 */
import { spawnSync } from 'node:child_process';

/** A process that is timed. */
export interface Contestant {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Status 1 is a mistake of the measurement, not an answer. */
  readonly strict?: boolean;
  /** Largest ratio to the floor that is still good; undefined: told, not judged. */
  readonly budget?: number;
}

/** What was measured of one of them. */
export interface Figure {
  readonly name: string;
  /**
   * Lower quartile of wall-clock milliseconds: what other programs on the machine add to a run is only
   * ever more.
   */
  readonly quick: number;
  /** Lower quartile divided by the floor's: what is held against the budget. */
  readonly ratio: number;
  /** Median divided by the floor's median, for comparison. */
  readonly medians: number;
  readonly budget: number | undefined;
}

/** Variables that make Node itself slower or different. */
const UNSET = [
  'NODE_EXTRA_CA_CERTS',
  'NODE_OPTIONS',
  'NODE_COMPILE_CACHE',
  'NODE_V8_COVERAGE',
  'RUNNER_ROOT',
];

function environment(own: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...process.env, ...own };
  for (const name of UNSET) if (!(name in own)) delete env[name];
  return env;
}

/** `node -e 0`: what every start of Node costs. */
export const FLOOR: Contestant = { name: 'node -e 0', file: process.execPath, args: ['-e', '0'] };

function once(contestant: Contestant): number {
  const begin = performance.now();
  const { status, error } = spawnSync(contestant.file, [...contestant.args], {
    env: environment(contestant.env),
    input: contestant.input ?? '',
    stdio: ['pipe', 'pipe', 'pipe'],
    maxBuffer: 1 << 28,
  });
  const took = performance.now() - begin;
  if (error || (status !== 0 && (status !== 1 || contestant.strict)))
    throw new Error(`${contestant.name} ended with ${status ?? error}`);
  return took;
}

/** Value below which a part of the values lies: 0.5 is the median. */
function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * part)] as number;
}

function shuffled<T>(items: readonly T[]): T[] {
  const order = [...items];
  for (let at = order.length - 1; at > 0; at -= 1) {
    const other = Math.floor(Math.random() * (at + 1));
    [order[at], order[other]] = [order[other] as T, order[at] as T];
  }
  return order;
}

/** Runs everybody `rounds` times; the first of the list is the floor. */
export function compare(
  contestants: readonly [Contestant, ...Contestant[]],
  rounds: number,
): Figure[] {
  const times = new Map(contestants.map((each) => [each.name, [] as number[]]));
  for (const each of contestants) once(each);
  for (let round = 0; round < rounds; round += 1) {
    for (const each of shuffled(contestants)) times.get(each.name)?.push(once(each));
  }
  const of = (name: string, part: number) => quantile(times.get(name) as number[], part);
  const floor = contestants[0].name;
  return contestants.map(({ name, budget }) => ({
    name,
    quick: of(name, 0.25),
    ratio: of(name, 0.25) / of(floor, 0.25),
    medians: of(name, 0.5) / of(floor, 0.5),
    budget,
  }));
}

/** What `whole` costs beyond `part`, held against a budget of its own. */
export function added(name: string, whole: Figure, part: Figure, budget: number): Figure {
  return {
    name,
    quick: whole.quick - part.quick,
    medians: whole.medians - part.medians,
    ratio: whole.ratio - part.ratio,
    budget,
  };
}

/** Prints figures as a Markdown table; returns whether every budget was kept. */
export function printTable(title: string, figures: readonly Figure[]): boolean {
  const rows = figures.map(({ name, quick, ratio, medians, budget }) => [
    name,
    `${quick.toFixed(1)} ms`,
    ratio.toFixed(2),
    medians.toFixed(2),
    budget === undefined ? '' : budget.toFixed(2),
    budget === undefined ? '' : ratio <= budget ? 'kept' : 'MISSED',
  ]);
  process.stdout.write(
    `\n### ${title}\n\n| what | time | ratio | of medians | budget | |\n|---|---|---|---|---|---|\n`,
  );
  for (const row of rows) process.stdout.write(`| ${row.join(' | ')} |\n`);
  return rows.every((row) => row[5] !== 'MISSED');
}
