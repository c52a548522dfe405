/** One sequence of steps, done to a real app and to the model of the rules. */
import { setTimeout } from 'node:timers/promises';
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
import type { Ports } from './sample-app.ts';
import type { Disagreement } from './sequences.ts';
import type { Step } from './steps.ts';
import { makeSubject, type Observed, type Subject } from './subject.ts';

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

/** Steps after which a killed command still waits to be cleaned up. */
const PASSIVE = ['push', 'clock', 'kill'];

/** A step, and what the command answered. */
type Answered = Readonly<{ step: Step; answer: string }>;

/** Does the steps one after the other; resolves the first disagreement. */
async function runSteps(
  steps: readonly Step[],
  subject: Subject,
  head: () => Promise<string | null>,
): Promise<Disagreement | undefined> {
  let possible: Rules[] = [NOTHING];
  let seen = await subject.observe();
  const ids = new Map<string, string>();
  const left = new Set<string>();
  for (const [index, step] of steps.entries()) {
    if (!isPossible(step, subject)) continue;
    const before = seen;
    const { answer, printed } = await subject.perform(step);
    if (step[0] === 'push') ids.set(`v${subject.commits.size}`, String(await head()));
    seen = await subject.observe();
    const found = judge({ step, answer }, possible, seen, { subject, ids });
    possible = found.rules;
    const reasons = [...found.reasons, ...broughtBack({ step, answer }, before, seen, left)];
    if (reasons.length > 0) return { steps: steps.slice(0, index + 1), reasons, printed };
  }
  if (subject.isInterrupted()) return undefined;
  const reasons = [...(await leftOvers(subject, seen)), await subject.verify()].filter(Boolean);
  return reasons.length > 0 ? { steps, reasons, printed: 'at the end' } : undefined;
}

/** The rules that are still possible after a step, or what contradicts all of them. */
function judge(
  { step, answer }: Answered,
  before: readonly Rules[],
  seen: Observed,
  { subject, ids }: { subject: Subject; ids: ReadonlyMap<string, string> },
): { rules: Rules[]; reasons: string[] } {
  const outcomes = before.flatMap((rules) => outcomesOf(step, rules, subject));
  const possible = outcomes.filter((each) => each.answer === answer).map(({ rules }) => rules);
  if (possible.length === 0) {
    const answers = [...new Set(outcomes.map((each) => each.answer))];
    return { rules: [], reasons: [`answer: ${answer}, wanted ${answers.join(' or ')}`] };
  }
  // What a killed command has left is cleaned up by the next one.
  const waits = subject.isInterrupted() && PASSIVE.includes(step[0] as string);
  if (!waits) return agreeing(possible, seen, ids);
  const word = seen.listed.state;
  return { rules: possible, reasons: word === 'interrupted' ? [] : [`interrupted is ${word}`] };
}

/** The versions that run. */
function active({ listed }: Observed): string[] {
  return listed.instances.flatMap(({ current }) => current?.version ?? []);
}

/** Notes in `left` what is rolled back by hand; the timer must not deploy it. */
function broughtBack(
  { step: [kind], answer }: Answered,
  before: Observed,
  seen: Observed,
  left: Set<string>,
): string[] {
  const now = active(seen);
  if (kind === 'fetch' && answer === 'deployed')
    return now.filter((each) => left.has(each)).map((each) => `the timer brought ${each} back`);
  for (const version of now) left.delete(version);
  if (kind === 'rollback')
    for (const version of active(before)) if (!now.includes(version)) left.add(version);
  return [];
}

/** The rules with which everything agrees; else what differs from the nearest ones. */
function agreeing(
  possible: readonly Rules[],
  seen: Observed,
  ids: ReadonlyMap<string, string>,
): { rules: Rules[]; reasons: string[] } {
  const compared = possible.map((rules) => ({ rules, reasons: differences(rules, seen, ids) }));
  const rules = compared.filter(({ reasons }) => reasons.length === 0).map((each) => each.rules);
  if (rules.length > 0) {
    const unique = new Map(rules.map((each) => [JSON.stringify(each), each]));
    return { rules: [...unique.values()], reasons: [] };
  }
  const [nearest] = compared.sort((a, b) => a.reasons.length - b.reasons.length);
  return { rules, reasons: nearest?.reasons ?? [] };
}

/** Milliseconds for the git of a killed command to end: its answer goes nowhere. */
const ENDING = 10_000;

/** One process for each instance that runs, and no others. */
async function leftOvers(subject: Subject, seen: Observed): Promise<string[]> {
  const running = active(seen).length;
  const began = performance.now();
  let processes = subject.processes();
  const tooMany = () => processes.length > running || subject.writers() > 2 * running;
  while (tooMany() && performance.now() - began < ENDING) {
    await setTimeout(100);
    processes = subject.processes();
  }
  if (processes.length === running && !tooMany()) return [];
  const commands = processes.map(({ command }) => command).join(' | ');
  const writers = `${subject.writers()} writers`;
  return [`${processes.length} processes and ${writers} for ${running} instances: ${commands}`];
}

/** Runs the steps on an app of its own. */
export async function attempt(
  git: GitServer,
  ports: Ports,
  steps: readonly Step[],
): Promise<Disagreement | undefined> {
  const subject = await makeSubject(git, ports);
  try {
    return await runSteps(steps, subject, () => git.head(subject.repo));
  } finally {
    subject.close();
  }
}
