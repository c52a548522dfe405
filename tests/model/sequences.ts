/**
 * Random sequences of commands, each step followed by a look at everything: what is served,
 * `current`, list, state and audit log agree with the model of the rules. A failing sequence is
 * made shorter and printed as text; MODEL_STEPS='…' runs such a text, MODEL_SEED=n another seed.
 */
import { freePort } from '@runner/testing/app';
import type { GitServer } from '@runner/testing/git-server';
import { attempt, type Disagreement } from './attempt.ts';
import type { Ports } from './sample-app.ts';
import { makeSteps, stepsIn, textOf } from './steps.ts';

const NAMES = ['default', 'api', 'web'];

/** The ports of one worker, used by one sequence after the other. */
async function portsOf(): Promise<Ports> {
  const ports: Record<string, number> = {};
  for (const name of NAMES) ports[name] = await freePort();
  return ports;
}

/** Leaves out each step that is not needed for the same kind of disagreement. */
async function shorten(git: GitServer, ports: Ports, found: Disagreement): Promise<Disagreement> {
  let least = found;
  for (let index = least.steps.length - 2; index >= 0; index -= 1) {
    const fewer = least.steps.filter((_, at) => at !== index);
    const again = await attempt(git, ports, fewer);
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
    .map((reason) => reason.replace(/"?\bv\d+\b"?|[0-9a-f]{40}|default|api|web/g, '*'))
    .join('\n');
}

/** Runs `count` sequences of `length` steps from a seed on, some at a time. */
export async function runSequences(
  git: GitServer,
  { count, length, jobs, seed }: Readonly<Record<'count' | 'length' | 'jobs' | 'seed', number>>,
): Promise<Tally> {
  const given = process.env.MODEL_STEPS;
  const total = given ? 1 : count;
  let [next, steps] = [0, 0];
  const problems = new Map<string, { report: string; times: number }>();
  const note = async (own: number, found: Disagreement, ports: Ports) => {
    const kind = kindOf(found);
    const known = problems.get(kind);
    if (known) known.times += 1;
    else {
      const entry = { report: reportOf(own, found), times: 1 };
      problems.set(kind, entry);
      if (!given) entry.report = reportOf(own, await shorten(git, ports, found));
    }
  };
  const work = async () => {
    const ports = await portsOf();
    while (next < total && problems.size < PROBLEMS_MAX) {
      const own = seed + next;
      next += 1;
      const all = given ? stepsIn(given) : makeSteps(own, length);
      const found = await attempt(git, ports, all);
      steps += all.length;
      if (found) await note(own, found, ports);
    }
  };
  await Promise.all(Array.from({ length: Math.min(jobs, total) }, work));
  const reports = [...problems.values()].map(({ report, times }) => `${times} × ${report}`);
  return { sequences: next, steps, problems: reports };
}

/** The seed that was given, else `usual`, else one from the clock. */
export function seedFrom(
  { MODEL_SEED: given }: NodeJS.ProcessEnv,
  usual = Date.now() % 1_000_000_000,
): number {
  return given ? Number(given) : usual;
}
