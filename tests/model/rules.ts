/**
 * A model of the rules of an app: what each command makes of its versions, hold, failures and block.
 * It knows no clock. Where the rules leave a choice, or a kill leaves several ends, a command has
 * several possible outcomes.
 */

/** A commit on the branch; its tag is its version. */
export interface Commit {
  readonly version: string;
  /** What happens to it: it fails in its build, or never becomes healthy. */
  readonly kind: 'good' | 'build' | 'health';
  readonly instances: readonly string[];
  /** Good releases that are kept once it is deployed. */
  readonly keep: number;
}

/** A kept release of an instance. `order` counts the deploys. */
export interface Kept {
  readonly version: string;
  readonly order: number;
}

export interface InstanceRules {
  readonly current: Kept | null;
  /** The version that was active before comes first. */
  readonly previous: readonly Kept[];
}

export interface Rules {
  /** Head of the branch. */
  readonly head: string | null;
  /** The head that runner has seen last: a rollback asks no code host. */
  readonly known: string | null;
  readonly instances: Readonly<Record<string, InstanceRules>>;
  readonly failures: { readonly version: string; readonly count: number } | null;
  /** The head of the branch that failed last, also through a kill; null after a success. */
  readonly tried: string | null;
  /** What the timer must skip. */
  readonly held: readonly string[] | null;
  /** The newest deploy, if it failed and so is not what runs. */
  readonly failed: string | null;
  readonly deploys: number;
}

/** A possible end of a command: what it answers, and the rules from then on. */
export interface Outcome {
  readonly answer: string;
  readonly rules: Rules;
}

export type Commits = ReadonlyMap<string, Commit>;

/** Failures of one commit after which the timer stops. */
const RETRIES = 3;

export const NOTHING: Rules = {
  head: null,
  known: null,
  instances: {},
  failures: null,
  tried: null,
  held: null,
  failed: null,
  deploys: 0,
};

/** `runner deploy`, with `--ref` or of the head. */
export function deployed(rules: Rules, commits: Commits, ref: string | null): Outcome[] {
  const commit = commits.get(ref ?? rules.head ?? '');
  if (!commit) return [{ answer: 'failed', rules }];
  const seen = { ...rules, known: rules.head };
  if (commit.kind === 'good') return [{ answer: 'deployed', rules: success(seen, commit) }];
  return [{ answer: 'failed', rules: failure(seen, commit, true) }];
}

/** `runner fetch --deploy`: what it must skip, it skips. */
export function fetched(rules: Rules, commits: Commits): Outcome[] {
  const { head, failures, held } = rules;
  const seen = { ...rules, known: head };
  if (head === null) return [{ answer: 'error', rules }];
  const running = currents(rules);
  if (running.length > 0 && running.every((each) => each === head))
    return [{ answer: 'up_to_date', rules: seen }];
  if (failures?.version === head && failures.count >= RETRIES)
    return [{ answer: 'blocked', rules: seen }];
  if (held?.includes(head)) return [{ answer: 'held', rules: seen }];
  return deployed(rules, commits, null);
}

/** `runner rollback`, with `--to` or without. */
export function rolledBack(rules: Rules, to: string | null): Outcome[] {
  const running = Object.values(rules.instances).filter(({ current }) => current);
  const unchanged = { answer: 'unchanged', rules };
  if (running.length === 0) return [{ answer: 'refused', rules }];
  if (to !== null || rules.failed === null) return [moved(rules, to)];
  // A commit that was deployed again and failed, or was killed, is also what runs.
  const isActive = running.some(({ current }) => current?.version === rules.failed);
  return isActive ? [unchanged, moved(rules, to)] : [unchanged];
}

function moved(rules: Rules, to: string | null): Outcome {
  const moves = Object.entries(rules.instances).flatMap(([name, instance]) => {
    const target = destination(instance, to);
    return target ? [{ name, from: instance.current as Kept, target }] : [];
  });
  if (moves.length === 0) return { answer: 'refused', rules };
  const leaving = moves.filter(({ from, target }) => from.version !== target.version);
  // Started again: nothing was left, and the failed deploy was left alone.
  if (leaving.length === 0) return { answer: 'rolled_back', rules: { ...rules, failed: null } };
  const instances = { ...rules.instances };
  for (const { name, from, target } of leaving) {
    const others = (instances[name]?.previous ?? []).filter((each) => each !== target);
    const older = others.filter((each) => each.order < target.order);
    const newer = others.filter((each) => each.order > target.order);
    instances[name] = { current: target, previous: [...older, ...newer, from] };
  }
  const after = { ...rules, instances, failed: null };
  const left = leaving.map(({ from }) => from.version);
  const isAtHead = currents(after).every((each) => each === rules.known);
  const held = [...new Set([...(rules.held ?? []), ...left, rules.known as string])];
  return { answer: 'rolled_back', rules: { ...after, held: isAtHead ? null : held } };
}

/** Without `--to` it never goes forward. */
function destination({ current, previous }: InstanceRules, to: string | null): Kept | undefined {
  if (!current) return undefined;
  if (to === null) return previous.find((each) => each.order < current.order);
  return [current, ...previous].find((each) => each.version === to);
}

/** What a `kill -9` of a command may leave, once the next command has cleaned up. */
export function killed(
  rules: Rules,
  commits: Commits,
  command: 'deploy' | 'fetch' | 'rollback',
  ref: string | null,
): Rules[] {
  if (command === 'rollback') return [rules, ...rolledBack(rules, ref).map((each) => each.rules)];
  const seen = { ...rules, known: rules.head };
  const outcomes = command === 'fetch' ? fetched(rules, commits) : deployed(rules, commits, ref);
  const commit = commits.get(ref ?? rules.head ?? '');
  const isDeploy = outcomes.some(({ answer }) => answer === 'deployed' || answer === 'failed');
  if (!commit || !isDeploy) return [rules, seen];
  // A kill is not the commit's fault: it does not count.
  return [rules, seen, failure(seen, commit, false), ...outcomes.map((each) => each.rules)];
}

function success(rules: Rules, commit: Commit): Rules {
  const current = { version: commit.version, order: rules.deploys + 1 };
  const instances: Record<string, InstanceRules> = {};
  for (const name of commit.instances) {
    const before = rules.instances[name];
    const kept = [before?.current, ...(before?.previous ?? [])].filter(
      (each): each is Kept => !!each && each.version !== commit.version,
    );
    instances[name] = { current, previous: kept.slice(0, commit.keep - 1) };
  }
  const held = commit.version === rules.head ? null : [rules.head as string];
  const after = {
    instances,
    failures: null,
    tried: null,
    held,
    failed: null,
    deploys: current.order,
  };
  return { ...rules, ...after };
}

/** Only failures of the head count: another commit, chosen by an operator, is not tried again. */
function failure(rules: Rules, { version }: Commit, counts: boolean): Rules {
  const after = { ...rules, failed: version };
  if (version !== rules.known) return after;
  const before = rules.failures?.version === version ? rules.failures.count : 0;
  const failures = counts ? { version, count: before + 1 } : rules.failures;
  return { ...after, failures, tried: version };
}

/** The version of each instance that has one. */
function currents({ instances }: Pick<Rules, 'instances'>): string[] {
  return Object.values(instances).flatMap(({ current }) => (current ? [current.version] : []));
}

/** The state of the app in `runner list`: what the timer would do with the head that is known. */
export function stateWord({ failures, known, tried, held, instances }: Rules): string {
  const running = currents({ instances });
  const rest = held ? 'held' : running.length > 0 ? 'ok' : 'new';
  if (known === null || (running.length > 0 && running.every((each) => each === known)))
    return rest;
  if (failures?.version === known && failures.count >= RETRIES) return 'blocked';
  if (tried !== known || held?.includes(known)) return rest;
  return failures?.version === known ? 'failing' : 'interrupted';
}
