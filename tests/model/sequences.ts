/**
 * Random sequences of steps, each of them followed by a look at everything. A failing sequence is made
 * shorter and printed as text; MODEL_STEPS='…' runs such a text, MODEL_SEED=n another seed, MODEL_COUNT
 * another number of sequences.
 */
import { IS_WHOLE } from '@runner/testing/extent';
import * as assert from 'uvu/assert';
import { type Step, stepsIn, textOf } from './steps.ts';

/** A step after which something is not as it should be. */
export interface Disagreement {
  readonly steps: readonly Step[];
  readonly reasons: readonly string[];
  readonly printed: string;
}

/** How steps are made, and done. */
export interface Play {
  /** The steps of a seed. */
  make(seed: number): Step[];
  /** Does them on a server of their own; resolves the first disagreement. `worker` counts from 0. */
  attempt(steps: readonly Step[], worker: number): Promise<Disagreement | undefined>;
}

/** Leaves out each step that is not needed for the same kind of disagreement. */
async function shorten(attempt: Play['attempt'], found: Disagreement, worker: number) {
  let least = found;
  for (let index = least.steps.length - 2; index >= 0; index -= 1) {
    const fewer = least.steps.filter((_, at) => at !== index);
    const again = await attempt(fewer, worker);
    if (again && kindOf(again) === kindOf(found)) least = again;
    index = Math.min(index, least.steps.length - 1);
  }
  return least;
}

/** The report of a sequence that disagrees. */
function reportOf(seed: number, { steps, reasons, printed }: Disagreement): string {
  return `seed ${seed}: MODEL_STEPS='${textOf(steps)}'\n  ${reasons.join('\n  ')}\n${printed}`;
}

/** What was run. */
export interface Tally {
  readonly sequences: number;
  readonly steps: number;
  readonly problems: readonly string[];
}

/** Stops at this many different problems. */
const PROBLEMS_MAX = 8;

/** Two problems with the same reasons, whatever the versions and instances, count as one. */
function kindOf({ reasons }: Disagreement): string {
  return reasons
    .map((reason) => reason.replace(/"?\bv\d+\b"?|[0-9a-f]{8,40}|default|api|web/g, '*'))
    .join('\n');
}

/** Runs the sequences of `count` seeds from a seed on, `jobs` at a time. */
async function runSequences(
  play: Play,
  { count, jobs, seed }: Readonly<Record<'count' | 'jobs' | 'seed', number>>,
): Promise<Tally> {
  const given = process.env.MODEL_STEPS;
  const total = given ? 1 : Number(process.env.MODEL_COUNT ?? count);
  let [next, steps] = [0, 0];
  const problems = new Map<string, { report: string; times: number }>();
  const note = async (own: number, found: Disagreement, worker: number) => {
    const kind = kindOf(found);
    const known = problems.get(kind);
    if (known) known.times += 1;
    else {
      const entry = { report: reportOf(own, found), times: 1 };
      problems.set(kind, entry);
      if (!given) entry.report = reportOf(own, await shorten(play.attempt, found, worker));
    }
  };
  const work = async (_: unknown, worker: number) => {
    while (next < total && problems.size < PROBLEMS_MAX) {
      const own = seed + next;
      next += 1;
      const all = given ? stepsIn(given) : play.make(own);
      const found = await play.attempt(all, worker);
      steps += all.length;
      if (found) await note(own, found, worker);
    }
  };
  await Promise.all(Array.from({ length: Math.min(jobs, total) }, work));
  const reports = [...problems.values()].map(({ report, times }) => `${times} × ${report}`);
  return { sequences: next, steps, problems: reports };
}

/** A thousand sequences, or `part` of them on each commit; MODEL_JOBS at a time. Prints what was run; throws unless all agree. */
export async function playAll(play: Play, part: number): Promise<void> {
  const seed = IS_WHOLE ? seedFrom(process.env) : seedFrom(process.env, 1);
  const jobs = Number(process.env.MODEL_JOBS ?? (IS_WHOLE ? 4 : 3));
  const done = await runSequences(play, { count: IS_WHOLE ? 1_000 : part, jobs, seed });
  process.stdout.write(`(${done.sequences} sequences of ${done.steps} steps, seed ${seed})\n`);
  assert.is(done.problems.join('\n\n'), '', `MODEL_SEED=${seed}`);
}

/** The seed that was given, else `usual`, else one from the clock. */
function seedFrom(
  { MODEL_SEED: given }: NodeJS.ProcessEnv,
  usual = Date.now() % 1_000_000_000,
): number {
  return given ? Number(given) : usual;
}
