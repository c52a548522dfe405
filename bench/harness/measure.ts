/**
 * Times whole processes against each other: interleaved, in random order, after a warm-up, so that
 * a machine whose speed drifts still gives a true ratio. Absolute times mean little; ratios count.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { executable } from '@runner/testing/run';

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
  readonly budget?: number | undefined;
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

/** `node` with these arguments, in a root. */
export function node(
  name: string,
  root: string,
  args: readonly string[],
  more: Partial<Contestant> = {},
): Contestant {
  return { name, file: process.execPath, args, env: { RUNNER_ROOT: root }, ...more };
}

/** One of our executables with its arguments, run by `node`: without the shim. */
export function ours(
  name: string,
  root: string,
  [tool = '', ...args]: readonly string[],
  more: Partial<Contestant> = {},
): Contestant {
  return node(name, root, [executable(tool), ...args], more);
}

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
export function quantile(values: readonly number[], part: number): number {
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

/** The last cell of a row with a budget. */
export function verdict(kept: boolean): string {
  return kept ? 'kept' : 'MISSED';
}

/** Prints a Markdown table. */
export function printRows(
  title: string,
  heading: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): void {
  const lines = [heading, ...rows].map((cells) => `| ${cells.join(' | ')} |\n`);
  lines.splice(1, 0, `|${'---|'.repeat(heading.length)}\n`);
  process.stdout.write(`\n### ${title}\n\n${lines.join('')}`);
}

/** Prints figures as a Markdown table; returns whether every budget was kept. */
export function printTable(title: string, figures: readonly Figure[]): boolean {
  const misses = ({ ratio, budget }: Figure) => budget !== undefined && ratio > budget;
  const rows = figures.map((figure) => [
    figure.name,
    `${figure.quick.toFixed(1)} ms`,
    figure.ratio.toFixed(2),
    figure.medians.toFixed(2),
    figure.budget?.toFixed(2) ?? '',
    figure.budget === undefined ? '' : verdict(!misses(figure)),
  ]);
  printRows(title, ['what', 'time', 'ratio', 'of medians', 'budget', ''], rows);
  return !figures.some(misses);
}

/** Prints one time in seconds beside its budget; returns whether it was kept. */
export function printSeconds(
  title: string,
  name: string,
  seconds: number,
  { budget, slack = 0 }: { readonly budget: number; readonly slack?: number },
): boolean {
  const kept = seconds <= budget + slack;
  const cells = [`${seconds.toFixed(1)} s`, (seconds / budget).toFixed(2), `${budget} s`];
  const heading = ['what', 'time', 'ratio to the budget', 'budget', ''];
  printRows(title, heading, [[name, ...cells, verdict(kept)]]);
  return kept;
}

/** Largest resident size in MB, the least of some runs; undefined without GNU time. */
export function memoryOf({ file, args, env }: Contestant, runs = 1): number | undefined {
  if (!existsSync('/usr/bin/time')) return undefined;
  const sizes = Array.from({ length: runs }, () => {
    const { stderr } = spawnSync('/usr/bin/time', ['-f', '%M', file, ...args], {
      env: { PATH: process.env.PATH, ...env },
      encoding: 'utf8',
      maxBuffer: 1 << 30,
    });
    return Number(stderr.trim().split('\n').at(-1)) / 1024;
  });
  return Math.min(...sizes);
}

/** Ends the program with 1 when a budget was missed. */
export function conclude(kept: readonly boolean[]): void {
  if (kept.includes(false)) process.exitCode = 1;
}
