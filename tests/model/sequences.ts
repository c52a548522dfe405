/**
 * Random sequences of commands, each step followed by a look at everything: what is served,
 * `current`, list, state and audit log agree with the model of the rules. A failing sequence is
 * made shorter and printed as text; MODEL_STEPS='…' runs such a text, MODEL_SEED=n another seed.
 */
import { freePort } from '@runner/testing/app';
import type { GitServer } from '@runner/testing/git-server';
import { differences } from './agreement.ts';
import {
  deployed,
  fetched,
  killed,
  NOTHING,
  type Outcome,
  type Rules,
  rolledBack,
} from './rules.ts';
import { makeSteps, type Step, stepsIn, textOf } from './steps.ts';
import { makeSubject, type Observed, type Ports, type Subject } from './subject.ts';

const NAMES = ['default', 'api', 'web'];

/** A step after which something is not as the rules say. */
interface Disagreement {
  readonly steps: readonly Step[];
  readonly reasons: readonly string[];
  readonly printed: string;
}

/** The ports of one worker, used by one sequence after the other. */
async function portsOf(): Promise<Ports> {
  const ports: Record<string, number> = {};
  for (const name of NAMES) ports[name] = await freePort();
  return ports;
}

/** The possible ends of a step, or undefined if it cannot be done here. */
function outcomesOf(step: Step, rules: Rules, subject: Subject): Outcome[] {
  const { commits } = subject;
  const [kind, argument = null] = step;
  switch (kind) {
    case 'push':
      return [{ answer: '', rules: { ...rules, head: `v${commits.size}` } }];
    case 'deploy':
      return deployed(rules, commits, argument);
    case 'fetch':
      return fetched(rules, commits);
    case 'rollback':
      return rolledBack(rules, argument);
    case 'kill': {
      const [, , command = 'deploy', ...rest] = step;
      const all = killed(rules, commits, command as 'deploy', rest[0] ?? null);
      const whole = outcomesOf([command, ...rest], rules, subject);
      return [...all.map((each) => ({ answer: 'killed', rules: each })), ...whole];
    }
    default:
      return [{ answer: '', rules }];
  }
}

/** Steps that name a version which is not there come from a sequence that was made shorter. */
function isPossible([kind, ...rest]: Step, { commits }: Subject): boolean {
  if (kind === 'push' || kind === 'clock') return true;
  return commits.size > 0 && rest.every((word) => !word.startsWith('v') || commits.has(word));
}

/** Does the steps one after the other; resolves the first disagreement. */
async function runSteps(
  steps: readonly Step[],
  subject: Subject,
  head: () => Promise<string | null>,
): Promise<Disagreement | undefined> {
  let possible: Rules[] = [NOTHING];
  const ids = new Map<string, string>();
  for (const [index, step] of steps.entries()) {
    if (!isPossible(step, subject)) continue;
    const { answer, printed } = await subject.perform(step);
    if (step[0] === 'push') ids.set(`v${subject.commits.size}`, String(await head()));
    const outcomes = possible.flatMap((rules) => outcomesOf(step, rules, subject));
    const answers = [...new Set(outcomes.map((each) => each.answer))];
    const fail = (reasons: readonly string[]) => ({
      steps: steps.slice(0, index + 1),
      reasons,
      printed,
    });
    possible = outcomes.filter((each) => each.answer === answer).map(({ rules }) => rules);
    if (possible.length === 0) return fail([`answer: ${answer}, wanted ${answers.join(' or ')}`]);
    // What a killed deploy has left is cleaned up by the next command.
    if (subject.isInterrupted()) continue;
    const seen = await subject.observe();
    const found = agreeing(possible, seen, ids);
    if (found.reasons) return fail(found.reasons);
    possible = found.rules;
  }
  if (subject.isInterrupted()) return undefined;
  const reasons = [...(await leftOvers(subject)), await subject.verify()].filter(Boolean);
  return reasons.length > 0 ? { steps, reasons, printed: 'at the end' } : undefined;
}

/** The rules with which everything agrees; else what differs from the nearest ones. */
function agreeing(
  possible: readonly Rules[],
  seen: Observed,
  ids: ReadonlyMap<string, string>,
): { rules: Rules[]; reasons?: string[] } {
  const compared = possible.map((rules) => ({ rules, reasons: differences(rules, seen, ids) }));
  const rules = compared.filter(({ reasons }) => reasons.length === 0).map((each) => each.rules);
  if (rules.length > 0) {
    const unique = new Map(rules.map((each) => [JSON.stringify(each), each]));
    return { rules: [...unique.values()] };
  }
  const [nearest] = compared.sort((a, b) => a.reasons.length - b.reasons.length);
  return { rules, reasons: nearest?.reasons ?? [] };
}

/** One process for each instance that runs, and no others. */
async function leftOvers(subject: Subject): Promise<string[]> {
  const { listed } = await subject.observe();
  const running = listed.instances.filter(({ current }) => current).length;
  const processes = subject.processes().map(({ command }) => command);
  if (processes.length === running) return [];
  return [`${processes.length} processes for ${running} instances: ${processes.join(' | ')}`];
}

async function attempt(git: GitServer, ports: Ports, steps: readonly Step[]) {
  const subject = await makeSubject(git, ports);
  try {
    return await runSteps(steps, subject, () => git.head(subject.repo));
  } finally {
    subject.close();
  }
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

/** The seed that was given, else one from the clock. */
export function seedFrom(environment: NodeJS.ProcessEnv): number {
  const given = environment.MODEL_SEED;
  return given ? Number(given) : Date.now() % 1_000_000_000;
}
