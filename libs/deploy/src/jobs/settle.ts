/** What becomes of a job at a look: pure. */
import type { JobEntry } from '@runner/common/apps/job-book';
import { dueTimes } from '@runner/common/deploy-file/schedule';
import { dated, RUNS_MAX } from './book.ts';

/** Found later than this, in ms, a time is missed. */
const LATE = 300_000;
/** Due times of one outage that are counted: a week of minutes. */
export const COUNT_MAX = 10_000;
/** A clock that was set back further, in ms, was wrong before: nothing waits until it is there again. */
const BACK_MAX = 86_400_000;

/** What is so at a look. */
export interface Look {
  readonly now: Date;
  readonly newId: () => string;
  /** Whether the process of its run is at work. */
  readonly isAlive: boolean;
  /** The app, or its instance, was stopped. */
  readonly isStopped: boolean;
  /** A deploy, or another command, changes the app. */
  readonly isBusy: boolean;
}

/** What is to be done. */
export interface SettledJob {
  readonly entry: JobEntry;
  /** The run to be begun. */
  readonly starts: boolean;
  /** The run that goes on is to be ended. */
  readonly ends: boolean;
  /** Times that were missed: the first, the last, and how many. */
  readonly missed:
    | { readonly first: string; readonly last: string; readonly count: number }
    | undefined;
  /** A run whose process was killed. */
  readonly killed: JobEntry['runs'][number] | undefined;
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
  return { ...begun(entry, due ?? known.waiting, look), missed: missedOf(late, known), killed };
}

/** Of several times that are found at once the newest has the run. */
function withPassed(entry: JobEntry, times: readonly Date[], look: Look): JobEntry {
  const reason = 'a later time was due, too';
  return times.reduce(
    (known, time) => withRun(known, skipped(time.toISOString(), look, reason)),
    entry,
  );
}

/** While a run goes on its rules say what becomes of further times. */
function missedOf(late: readonly Date[], { rules, run }: JobEntry): SettledJob['missed'] {
  const [first, last] = [late[0], late.at(-1)];
  if (!first || !last || rules.catchUp || run) return undefined;
  return { first: first.toISOString(), last: last.toISOString(), count: late.length };
}

type Begun = Pick<SettledJob, 'entry' | 'starts' | 'ends'>;

function begun(entry: JobEntry, due: string | null, look: Look): Begun {
  const { rules, run } = entry;
  if (due === null) return { entry, starts: false, ends: false };
  if (run) {
    if (rules.overlap === 'skip' && due !== entry.waiting)
      return { entry: withRun(entry, skipped(due, look)), starts: false, ends: false };
    const ends = rules.overlap === 'kill' && run.endedBy === undefined;
    const next = ends ? { ...run, endedBy: 'next' as const } : run;
    return { entry: { ...waitingFor(entry, due, look), run: next }, starts: false, ends };
  }
  if (look.isBusy && rules.duringDeploy !== 'continue')
    return { entry: waitingFor(entry, due, look), starts: false, ends: false };
  const started = { id: look.newId(), due, at: look.now.toISOString(), version: null };
  return { entry: { ...entry, run: started, waiting: null }, starts: true, ends: false };
}

/** One time waits, the newest. */
function waitingFor(entry: JobEntry, due: string, look: Look): JobEntry {
  const { waiting } = entry;
  const isOther = waiting !== null && waiting !== due;
  const known = isOther ? withRun(entry, skipped(waiting, look)) : entry;
  return { ...known, waiting: due };
}

function killedRun(run: NonNullable<JobEntry['run']>, now: Date) {
  const { endedBy: _, ...rest } = run;
  const ms = Math.max(0, now.getTime() - Date.parse(run.at));
  return { ...rest, ms, outcome: 'killed' as const, reason: 'its process was killed' };
}

function skipped(due: string, { now, newId }: Look, reason = 'the run before went on') {
  const rest = { at: now.toISOString(), ms: 0, version: null, reason };
  return { id: newId(), due, outcome: 'skipped' as const, ...rest };
}

/** With one more run. */
export function withRun(entry: JobEntry, run: JobEntry['runs'][number]): JobEntry {
  return { ...entry, runs: [run, ...entry.runs].slice(0, RUNS_MAX) };
}
