/** What is known of the jobs of an app, in `apps/<app>/jobs.json`: rules, runs, and when each is due. */
import type { JobRules } from '../deploy-file/jobs.ts';
import { isThere, readTextIfThere } from '../files/read.ts';
import { writeWhole } from '../files/write.ts';
import { orElse, unlessFailure } from '../foundation/attempt.ts';
import { Failure } from '../foundation/failure.ts';
import type { Paths } from '../foundation/paths.ts';
import { isObject, jsonObject } from '../text/json.ts';
import type { Deployed } from './deployed.ts';
import { isStopped } from './operator.ts';
import { hasShape, isSection } from './parse-state.ts';
import type { AppState } from './state.ts';

/** Bytes: a `.deploy.yml` may have some two thousand jobs, each with its newest runs. */
const BOOK_MAX = 67_108_864;

/** How a run ended: `skipped` did not begin, `ended` was ended by a deploy or by the run after it. */
export type JobOutcome = 'ok' | 'failed' | 'killed' | 'ended' | 'skipped';

/** A run that is over. Times are in ISO 8601. */
export interface JobRun {
  id: string;
  /** The time that it was for; null: an operator, or a deploy, began it. */
  due: string | null;
  at: string;
  ms: number;
  outcome: JobOutcome;
  version: string | null;
  reason?: string;
  /** How often it was tried, if more than once. */
  attempts?: number;
}

/** A run that goes on, as long as its process holds the lock of the job. */
export type RunningJob = Pick<JobRun, 'id' | 'due' | 'at' | 'version'> & {
  /** Who has it ended. */
  endedBy?: 'deploy' | 'next';
  /** Of `on: one`: larger than that of every run before, on any server. */
  token?: number;
};

/** A job of the active release, or of one before. */
export interface JobEntry {
  rules: JobRules;
  instance: string;
  /** Due times up to it are dealt with. */
  settled: string;
  /** The next one; null: there is none. */
  next: string | null;
  run: RunningJob | null;
  /** A due time whose run waits for another run, or for a deploy. */
  waiting: string | null;
  paused: { since: string; by: string } | null;
  /** What was announced and is not over; of times that were missed, `since` the first of them. */
  trouble: { since: string; kind: 'failed' | 'missed'; count: number } | null;
  slow: boolean;
  /** Of `on: one`: the newest time that another server has. */
  elsewhere?: { server: string; due: string };
  /** Of `after: deploy`: the deploy for which it was due last. */
  deploy?: Pick<Deployed, 'deploy_id' | 'sequence'>;
  /** No active release has it. */
  gone?: true;
  /** The newest first. */
  runs: JobRun[];
}

/** The jobs of an app. */
export interface JobBook {
  /** Which releases the rules are of: `default=<release> …`. */
  of: string;
  jobs: Record<string, JobEntry>;
}

/** Whether no active release has a job, and no run of it goes on. */
export function isPast({ gone, run }: Pick<JobEntry, 'gone' | 'run'>): boolean {
  return gone === true && run === null;
}

/** Those of the active releases, by name, and what still runs of others. */
export function presentJobs(book: JobBook | undefined): [job: string, entry: JobEntry][] {
  return Object.entries(book?.jobs ?? {}).filter(([, entry]) => !isPast(entry));
}

/** undefined for an app that has had no jobs. Throws `state_malformed`, `file_unreadable`. */
export function readJobBook(paths: Paths, app: string): JobBook | undefined {
  const path = paths.app(app).jobs;
  const text = readTextIfThere(path, BOOK_MAX);
  if (text === undefined) return undefined;
  const book = jsonObject(text);
  if (
    typeof book?.of === 'string' &&
    isObject(book.jobs) &&
    Object.values(book.jobs).every(isEntry)
  )
    return book as unknown as JobBook;
  throw new Failure('state_malformed', `the file ${path} is damaged: runner did not write it so`);
}

function isEntry(entry: unknown): boolean {
  if (!hasShape(entry, ['instance', 'settled', 'next?', 'waiting?'])) return false;
  const { rules, run, paused, trouble, runs } = entry;
  return (
    hasShape(rules, ['when']) &&
    isObject(rules.schedule) &&
    'run' in entry &&
    isSection(run, ['id', 'due?', 'at']) &&
    isSection(paused, ['since', 'by']) &&
    isSection(trouble, ['since', 'kind', 'count']) &&
    Array.isArray(runs) &&
    runs.every((each) => hasShape(each, ['id', 'due?', 'at', 'outcome']))
  );
}

/** All entries, by name; none if they cannot be read: that must not stop a way back, or a removal. */
export function entriesAnyway(paths: Paths, app: string): JobBook['jobs'] {
  return unlessFailure(() => readJobBook(paths, app)?.jobs, undefined) ?? {};
}

/** A job in `runner list` and `runner status`. */
export interface JobSummary {
  job: string;
  instance: string;
  when: string;
  /** null: no time is due. */
  next: string | null;
  running: boolean;
  paused: boolean;
  /** Its instance was stopped, and it rests. */
  stopped: boolean;
  /** What was announced and is not over, in words. */
  trouble: string | null;
  /** Its trouble is that times passed without a run. */
  missed: boolean;
  /** Its newest run that is over; a time that was skipped is not a run. */
  last: Pick<JobRun, 'at' | 'ms' | 'outcome' | 'version'> | null;
}

/** The jobs of an app's active releases; where only the views may be read, their view. */
export function jobSummaries(paths: Paths, state: AppState, isClosed = false): JobSummary[] {
  const { app, instances } = state;
  if (!Object.values(instances).some(({ current }) => current?.jobs)) return [];
  const viewed = () => {
    const all: unknown = JSON.parse(readTextIfThere(paths.viewOfJobs(app), BOOK_MAX) ?? '[]');
    return Array.isArray(all) ? (all as JobSummary[]) : [];
  };
  const own = isClosed ? undefined : orElse(() => summariesOf(readJobBook(paths, app)), undefined);
  return (own ?? orElse(viewed, [])).map((each) =>
    isStopped(state, each.instance) ? { ...each, next: null, stopped: true } : each,
  );
}

/** What a job does next, in words; null: nothing. */
export function nextOfJob(
  { paused, running, stopped, next }: JobSummary,
  text: (time: string) => string,
): string | null {
  if (paused) return 'paused';
  if (running) return 'runs now';
  return stopped ? 'stopped' : next && `next ${text(next)}`;
}

/** Writes the view of an app's jobs, where the package made the folder; a later write repairs it. */
export function writeViewOfJobs(paths: Paths, app: string, book: JobBook): void {
  if (!isThere(paths.viewDir)) return;
  const text = `${JSON.stringify(summariesOf(book))}\n`;
  unlessFailure(() => writeWhole(paths.viewOfJobs(app), text, 0o640, false), undefined);
}

function summariesOf(book: JobBook | undefined): JobSummary[] {
  return presentJobs(book).map(([job, entry]) => {
    const { rules, instance, next, run, paused, trouble, runs } = entry;
    const ran = runs.find(({ outcome: how }) => how !== 'skipped');
    const { at, ms, outcome, version } = ran ?? ({} as Partial<JobRun>);
    const last = outcome === undefined ? null : { at, ms, outcome, version };
    return {
      job,
      instance,
      when: rules.when,
      next: paused ? null : next,
      running: run !== null,
      paused: paused !== null,
      stopped: false,
      missed: trouble?.kind === 'missed',
      trouble: jobTrouble(job, entry) ?? null,
      last: last as JobSummary['last'],
    };
  });
}

/** What is wrong with a job now, in words; undefined if nothing is. */
function jobTrouble(name: string, { trouble, runs }: JobEntry): string | undefined {
  if (!trouble) return undefined;
  const [last] = runs.filter(({ outcome }) => outcome !== 'skipped');
  if (trouble.kind === 'missed') return `job ${name} was missed`;
  const times = trouble.count > 1 ? ` ${trouble.count} times` : '';
  return `job ${name} failed${times}${last?.reason ? `: ${last.reason}` : ''}`;
}
