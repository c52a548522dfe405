/** What becomes of a job at a look: pure. */
import type { JobEntry } from '@runner/common/apps/job-book';
import { dueTimes } from '@runner/common/deploy-file/schedule';
import { dated, LATE, RUNS_MAX } from './book.ts';
import type { Claim } from './claims.ts';

/** Due times of one outage that are counted: a week of minutes. */
export const COUNT_MAX = 10_000;
/** A clock that was set back further, in ms, was wrong before: nothing waits until it is there again. */
const BACK_MAX = 86_400_000;

/** What is so at a look. */
export interface Look {
  readonly now: Date;
  readonly newId: () => string;
  /** Which server runs a job of `on: one`. */
  readonly claim: Claim;
  readonly isAlive: boolean;
  readonly isStopped: boolean;
  /** It waits for a deploy, or another command, that changes the app. */
  readonly isHeldUp: boolean;
}

/** What is to be done. */
export interface SettledJob {
  readonly entry: JobEntry;
  readonly starts: boolean;
  readonly ends: boolean;
  readonly missed: MissedTimes | undefined;
  readonly killed: JobEntry['runs'][number] | undefined;
}

/** Times that were missed; `why`, unless no one looked then. */
export interface MissedTimes {
  readonly first: string;
  readonly last: string;
  readonly count: number;
  readonly why?: string;
}

/** Deals with what is due up to now: each time once. */
export function settle(before: JobEntry, look: Look): SettledJob {
  const { now } = look;
  const killed = before.run && !look.isAlive ? killedRun(before.run, now) : undefined;
  const known = killed ? withRun({ ...before, run: null }, killed) : before;
  const nothing = { starts: false, ends: false, missed: undefined, killed };
  const isWrong = Date.parse(known.settled) - now.getTime() > BACK_MAX;
  const from = isWrong ? now : new Date(known.settled);
  if (known.gone) return { ...nothing, entry: known };
  if (look.isStopped || known.paused) {
    const isOfDeploys = known.rules.schedule.kind === 'deploy';
    const settled = (isOfDeploys || from > now ? from : now).toISOString();
    return { ...nothing, entry: dated({ ...known, settled, waiting: null }) };
  }
  const { schedule } = known.rules;
  const edge = new Date(now.getTime() - LATE);
  const late = from < edge ? dueTimes(schedule, from, edge, COUNT_MAX) : [];
  const fresh = dueTimes(schedule, from < edge ? edge : from, now, COUNT_MAX);
  const last = fresh.at(-1) ?? (late.length < COUNT_MAX ? (late.at(-1) ?? from) : edge);
  const passed = withPassed(known, fresh.slice(0, -1), look);
  const entry = dated({ ...passed, settled: last.toISOString() });
  const due = (known.rules.catchUp ? [...late, ...fresh] : fresh).at(-1)?.toISOString();
  // Asked first: a claim is never older than the one before.
  const unseen = missedOf(late, known, look);
  const { missed, ...next } = begun(entry, due ?? known.waiting, look);
  return { ...nothing, ...next, missed: joined(unseen, missed) };
}

const LATER = 'a later time was due, too';

/** Of several times that are found at once the newest has the run. */
function withPassed(entry: JobEntry, times: readonly Date[], look: Look): JobEntry {
  return times.reduce(
    (known, time) => withRun(known, skipped(time.toISOString(), look, LATER)),
    entry,
  );
}

/** While a run goes on its rules say what becomes of further times. */
function missedOf(
  late: readonly Date[],
  { rules, run }: JobEntry,
  { claim, newId }: Look,
): MissedTimes | undefined {
  const [first, last] = [late[0]?.toISOString(), late.at(-1)?.toISOString()];
  if (!first || !last || rules.catchUp || run) return undefined;
  const { result } = claim({ rules, id: newId(), due: last, isOver: true });
  if (result === 'taken' || result === 'running') return undefined;
  return { first, last, count: late.length };
}

function joined(
  one: MissedTimes | undefined,
  other: MissedTimes | undefined,
): MissedTimes | undefined {
  if (!one || !other) return one ?? other;
  return { ...other, last: one.last, count: one.count + other.count };
}

type Begun = Pick<SettledJob, 'entry'> &
  Partial<Pick<SettledJob, 'starts' | 'ends'>> & { readonly missed?: MissedTimes };

function begun(entry: JobEntry, due: string | null, look: Look): Begun {
  const { rules, run } = entry;
  if (due === null) return { entry };
  if (run) {
    if (rules.overlap === 'skip' && due !== entry.waiting)
      return { entry: withRun(entry, skipped(due, look)) };
    const ends = rules.overlap === 'kill' && run.endedBy === undefined;
    const next = ends ? { ...run, endedBy: 'next' as const } : run;
    return { entry: { ...waitingFor(entry, due, look), run: next }, ends };
  }
  if (look.isHeldUp) return { entry: waitingFor(entry, due, look) };
  const id = look.newId();
  const answer = look.claim({ rules, id, due });
  const at = look.now.toISOString();
  if (answer.result === 'claimed') {
    const token = answer.token === null ? {} : { token: answer.token };
    const run: JobEntry['run'] = { id, due, at, version: null, ...token };
    return { entry: { ...entry, run, waiting: null }, starts: true };
  }
  if (answer.result === 'taken') {
    const elsewhere = { server: answer.server, due };
    return { entry: { ...entry, waiting: null, elsewhere } };
  }
  if (answer.result === 'unknown') return unasked(entry, due, answer.why, look);
  if (rules.overlap === 'wait') return { entry: waitingFor(entry, due, look) };
  const reason = `the run before went on on ${answer.server}`;
  return { entry: withRun({ ...entry, waiting: null }, skipped(due, look, reason)) };
}

/** The broker could not be asked: one time waits for it, but not long. */
function unasked(entry: JobEntry, due: string, why: string, { now }: Look) {
  const { waiting, rules } = entry;
  if (rules.catchUp) return { entry: { ...entry, waiting: due } };
  const isOther = waiting !== null && waiting !== due;
  const isLate = now.getTime() - Date.parse(due) > LATE;
  const times = [...(isOther ? [waiting] : []), ...(isLate ? [due] : [])];
  const [first, last] = [times[0], times.at(-1)];
  const missed = first && last ? { missed: { first, last, count: times.length, why } } : {};
  return { entry: { ...entry, waiting: isLate ? null : due }, ...missed };
}

/** One time waits, the newest. */
function waitingFor(entry: JobEntry, due: string, look: Look): JobEntry {
  const { waiting } = entry;
  const isOther = waiting !== null && waiting !== due;
  const known = isOther ? withRun(entry, skipped(waiting, look, LATER)) : entry;
  return { ...known, waiting: due };
}

/** A run that has no process any more. */
export function killedRun(run: NonNullable<JobEntry['run']>, now: Date) {
  const { endedBy: _, ...rest } = run;
  const ms = Math.max(0, now.getTime() - Date.parse(run.at));
  return { ...rest, ms, outcome: 'killed' as const, reason: 'its process was killed' };
}

function skipped(due: string, { now, newId }: Look, reason = 'the run before went on') {
  const rest = { at: now.toISOString(), ms: 0, version: null, reason };
  return { id: newId(), due, outcome: 'skipped' as const, ...rest };
}

/** With one more run. Among many times that were skipped the newest that ran is kept. */
export function withRun(entry: JobEntry, run: JobEntry['runs'][number]): JobEntry {
  const all = [run, ...entry.runs];
  const kept = all.slice(0, RUNS_MAX);
  const ran = all.find(({ outcome }) => outcome !== 'skipped');
  if (ran && !kept.includes(ran)) kept[kept.length - 1] = ran;
  return { ...entry, runs: kept };
}
