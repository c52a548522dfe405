/** What changed in the state of an app since it was last announced: each change once, and its end. */
import { followedWords } from '@runner/common/apps/following';
import type { Restarts } from '@runner/common/apps/instance-summary';
import { editFor } from '@runner/common/apps/next';
import type { AppState, CheckFailed } from '@runner/common/apps/state';
import type { AppSummary } from '@runner/common/apps/summary';
import { behindChanges } from './behind.ts';
import type { AlertChanges, AlertEvent, Observed } from './observed.ts';

/** Compares the current state with what was announced. */
export function changesOf(app: AppState, seen: Observed): AlertChanges {
  const parts = [
    checkChanges(app, seen),
    runningChanges(app, seen),
    once('DeployWaiting', 'waits', app, seen),
    once('TagChanged', 'tag', app, seen),
    behindChanges(app, seen),
  ];
  return {
    changes: parts.flatMap(({ changes }) => changes),
    reported: Object.assign({}, app.reported, ...parts.map(({ reported }) => reported)),
  };
}

/** A failed check is a failed deploy, once for each cause. A deploy may have ended an earlier one. */
function checkChanges(app: AppState, { check, deploys, notify }: Observed): AlertChanges {
  const told = textsOf(app.reported?.check);
  const isOver = notify && told.length > 0 && (!check || !app.check_failed);
  const known = isOver ? [] : told;
  const since = app.check_failed ? ` since ${app.check_failed.since}` : '';
  const reason = `the branch could not be checked${since}`;
  const over: AlertEvent[] = isOver ? [{ event_type: 'CheckRecovered', reason }] : [];
  const cause = check && causeOfCheck(check);
  if (!cause || !deploys || known.includes(cause))
    return { changes: over, reported: { check: [...known] } };
  const { message, commit } = check;
  const edit = editFor(app, check.error);
  const error = edit ? `${message}; run: ${edit}` : message;
  const failure = { stage: 'fetch', error, ...(commit !== undefined && { commit }) };
  return {
    changes: [...over, { event_type: 'DeployFailure', ...failure }],
    reported: { check: withCause(known, check) },
  };
}

/** The instances that may be newly down: stopped, or restarted since the last look. */
export function suspectsOf(
  { reported }: AppState,
  { instances }: AppSummary,
  restarts: NonNullable<Observed['restarts']>,
): string[] {
  const known = textsOf(reported?.down);
  return instances.flatMap(({ instance, running, stopped }) => {
    const before: unknown = reported?.restarts?.[instance];
    const last = Array.isArray(before) ? (before.at(-1)?.[1] ?? 0) : 0;
    const isSuspect = (running === false && !stopped) || (restarts(instance)?.count ?? 0) > last;
    return isSuspect && !known.includes(instance) ? [instance] : [];
  });
}

/** What is announced once: a code, or the code and the commit that was refused. */
function causeOfCheck({ error, commit }: CheckFailed): string {
  return commit === undefined ? error : `${error} ${commit}`;
}

/** What was announced, and this cause, which replaces an earlier commit with the same code. */
export function withCause(known: readonly string[], check: CheckFailed): string[] {
  const others = known.filter((each) => each.split(' ')[0] !== check.error);
  return [...others, causeOfCheck(check)];
}

/** An instance that is stopped or of which nothing is known stays as it was, also while a deploy replaces it. */
function runningChanges({ reported }: AppState, seen: Observed): AlertChanges {
  const { summary, notify, now } = seen;
  const known = textsOf(reported?.down);
  if (summary.state === 'deploying') return { changes: [], reported: {} };
  const changes: AlertEvent[] = [];
  const down: string[] = [];
  const restarts: Record<string, RestartsSeen> = {};
  for (const { instance, current, running, stopped, broken } of summary.instances) {
    const wasDown = known.includes(instance);
    const counted = seen.restarts?.(instance);
    const crashes =
      counted &&
      crashLoop(reported?.restarts?.[instance], now, counted, wasDown && running !== false);
    if (crashes) restarts[instance] = crashes.seen;
    const isLoop = crashes?.loops === true;
    const isDown = (running === false || isLoop) && !broken && !stopped;
    const isUp = wasDown && running === true && !isLoop && notify;
    if (isDown || (wasDown && !isUp)) down.push(instance);
    const about = {
      instance,
      version: current?.version ?? followedWords({ branch: summary.branch, tags: summary.tags }),
    };
    if (isDown && !wasDown) {
      const { count = 0 } = crashes ?? {};
      const facts = { ...(count > 0 && { restarts: count }), ...(counted?.oom && { oom: true }) };
      const why = [
        counted?.oom ? 'the kernel killed it: it was out of memory' : '',
        isLoop ? `restarted ${count} times in 10 minutes` : '',
        running === false ? summary.next : `see runner logs ${summary.app}`,
      ];
      const reason = why.filter(Boolean).join('; ');
      const cause = seen.lastWords?.(instance) ?? '';
      changes.push({ event_type: 'AppDown', ...about, ...facts, reason, ...(cause && { cause }) });
    }
    if (isUp) changes.push({ event_type: 'AppUp', ...about });
  }
  return { changes, reported: { down, ...(seen.restarts && { restarts }) } };
}

/** What lasts, in words, is announced once. */
function once(
  event_type: 'DeployWaiting' | 'TagChanged',
  field: 'waits' | 'tag',
  { reported }: AppState,
  { deploys, [field]: reason }: Observed,
): AlertChanges {
  if (reason === undefined) return { changes: [], reported: { [field]: undefined } };
  if (!deploys || reason === reported?.[field]) return { changes: [], reported: {} };
  return { changes: [{ event_type, reason }], reported: { [field]: reason } };
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

/** Restarts in a window, in ms, that are a loop. */
const LOOP = 3;
const WINDOW = 600_000;

/** What `fetch` saw: when, in milliseconds since 1970, and how often the instance had been restarted. */
type RestartsSeen = readonly (readonly [at: number, count: number])[];

/** How often it was restarted in the last 10 minutes. `wasDown`: a loop is over when it was at most once. */
function crashLoop(before: unknown, now: Date, { count: total }: Restarts, wasDown: boolean) {
  const at = now.getTime();
  const isPair = (each: unknown): each is RestartsSeen[number] =>
    Array.isArray(each) && each.every(Number.isFinite);
  // A deploy begins to count again.
  const known = (Array.isArray(before) ? before : [])
    .filter(isPair)
    .filter(([time, count]) => time <= at && at - time <= WINDOW && count <= total);
  const count = total - (known[0]?.[1] ?? total);
  const seen: RestartsSeen = [...known, [at, total]];
  return { seen, count, loops: count >= (wasDown ? LOOP - 1 : LOOP) };
}
