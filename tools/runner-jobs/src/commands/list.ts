import { type JobEntry, presentJobs, readJobBook } from '@runner/common/apps/job-book';
import { isStopped, shortTime } from '@runner/common/apps/operator';
import type { AppState } from '@runner/common/apps/state';
import { appNames, requireApp } from '@runner/common/apps/store';
import { command } from '@runner/common/cli/command';
import { type Style, table } from '@runner/common/cli/output';
import { EXIT, Failure } from '@runner/common/foundation/failure';
import type { Paths, Server } from '@runner/common/foundation/paths';
import { cleanRecord } from '@runner/common/redaction/record';
import { redactorForAny } from '@runner/common/redaction/redact';
import { harmlessLine } from '@runner/common/text/harmless';
import { durationText } from '@runner/common/text/time';
import { requireKept } from '../kept.ts';

/** A job as `runner jobs` prints it. */
type ListedJob = ReturnType<typeof listed>;

interface JobList {
  readonly count: number;
  readonly jobs: readonly ListedJob[];
}

export const list = command({
  name: 'list',
  needsRoot: true,
  about: 'List jobs: when each ran last and how it went, and when it runs next',
  details:
    'Jobs are a section of .deploy.yml: a deploy changes them, and a rollback brings the old ones back. LAST\n' +
    'is the newest run, NEXT the next due time. runner status shows which have failed or were missed. With\n' +
    'the name of a job: its newest 20 runs. An app whose jobs cannot be read is reported on stderr; the exit\n' +
    'status is then 1.',
  positionals: {
    app: { about: 'Name of the app [default: all]' },
    job: { about: 'Name of a job, also of one that no active release has any more' },
  },
  examples: ['runner jobs', 'runner jobs shop nightly', 'runner jobs shop --json'],
  async run({ io, paths, args, note }) {
    const names = args.app === undefined ? appNames(paths) : [args.app];
    const jobs: ListedJob[] = [];
    let status: number = EXIT.ok;
    for (const name of names) {
      try {
        jobs.push(...(await jobsOf({ io, paths }, name, args.job)));
      } catch (error) {
        // One app that cannot be read does not hide the others.
        if (!(error instanceof Failure) || args.app !== undefined) throw error;
        status = EXIT.failed;
        note(`jobs of ${name}: ${error.message} (${error.code})`);
      }
    }
    return { value: { count: jobs.length, jobs } satisfies JobList, status };
  },
  human: ({ jobs }: JobList, style, { args }) => {
    const [first] = jobs;
    if (!first) return 'No jobs: the .deploy.yml of no active release has a section jobs.\n';
    return args.job === undefined ? jobTable(jobs, style) : runTable(first, style);
  },
});

async function jobsOf({ io, paths }: Server, name: string, job?: string): Promise<ListedJob[]> {
  const state = requireApp(paths, name);
  const book = asked(paths, state.app, job);
  if (book.length === 0) return [];
  // A command may contain a secret.
  const redact = await redactorForAny({ paths, env: io.env }, state.app);
  return book.map(([each, entry]) => cleanRecord({ ...listed(state, each, entry) }, redact));
}

const asked = (paths: Paths, app: string, job?: string): [string, JobEntry][] =>
  job === undefined ? presentJobs(readJobBook(paths, app)) : [[job, requireKept(paths, app, job)]];

function listed(state: AppState, job: string, entry: JobEntry) {
  const { rules, instance, next, run, waiting, paused, trouble, runs, elsewhere = null } = entry;
  const { run: command_, when, on = 'each' } = rules;
  const last = runs[0] ?? null;
  const about = { app: state.app, job, instance, run: command_, when, on };
  const stopped = isStopped(state, instance);
  const rests = paused !== null || stopped;
  // `next`: null if no time is due; it is paused, stopped with its app, or runs after deploys.
  const now = { next: rests ? null : next, running: run, waiting, paused, stopped, trouble };
  return {
    ...about,
    ...now,
    last,
    /** The newest 20 that are over, the newest first. */
    runs,
    /** Of `on: one`: the newest time that another server has had. */
    elsewhere,
  };
}

function lastWords({ running, last, trouble, elsewhere }: ListedJob): string {
  if (running) return `runs since ${shortTime(running.at)}`;
  if (trouble?.kind === 'missed') return `missed ${shortTime(trouble.since)}`;
  if (elsewhere && elsewhere.due > (last?.due ?? ''))
    return `on ${elsewhere.server} ${shortTime(elsewhere.due)}`;
  if (!last) return 'never';
  const took = last.outcome === 'skipped' ? '' : `, ${durationText(last.ms)}`;
  return `${last.outcome} ${shortTime(last.at)}${took}`;
}

function nextWords({ paused, stopped, waiting, next }: ListedJob): string {
  if (paused) return `paused by ${paused.by}`;
  if (stopped) return 'stopped';
  if (waiting !== null) return 'waits';
  return next === null ? '-' : shortTime(next);
}

function jobTable(jobs: readonly ListedJob[], style: Style): string {
  const rows = jobs.map((each) => [
    each.app,
    each.job,
    each.when,
    lastWords(each),
    nextWords(each),
  ]);
  const paint = (line: string, [, , , last = '']: readonly string[]) =>
    redFailure(line, last, style);
  return table(['APP', 'JOB', 'WHEN', 'LAST', 'NEXT'], rows, style, { paint });
}

function runTable({ job, runs, running }: ListedJob, style: Style): string {
  const now = running ? [{ ...running, outcome: 'running' as const }] : [];
  const rows = [...now, ...runs].map((run) => [
    shortTime(run.at),
    run.due === null ? '-' : shortTime(run.due),
    run.outcome,
    'ms' in run && run.outcome !== 'skipped' ? durationText(run.ms) : '-',
    run.version ?? '-',
    run.id,
    'reason' in run ? (run.reason ?? '') : '',
  ]);
  if (rows.length === 0) return `${harmlessLine(job)} has not run yet.\n`;
  const heading = ['BEGAN', 'DUE', 'OUTCOME', 'TOOK', 'VERSION', 'RUN', 'REASON'];
  const paint = (line: string, [, , outcome = '']: readonly string[]) =>
    redFailure(line, outcome, style);
  return table(heading, rows, style, { paint });
}

function redFailure(line: string, outcome: string, style: Style): string {
  return /^(?:failed|killed|missed)\b/.test(outcome) ? style.red(line) : line;
}
