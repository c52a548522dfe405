import { isStopped, type JobEntry, presentJobs, readJobBook } from '@runner/common/apps/job-book';
import { shortTime } from '@runner/common/apps/operator';
import type { AppState } from '@runner/common/apps/state';
import { appNames, requireApp } from '@runner/common/apps/store';
import { command } from '@runner/common/cli/command';
import type { Style } from '@runner/common/cli/output';
import { cleanRecord } from '@runner/common/redaction/record';
import { redactorForAny } from '@runner/common/redaction/redact';
import { harmlessLine } from '@runner/common/text/harmless';
import { durationText } from '@runner/common/text/time';

/** A job as `runner jobs` prints it. */
interface ListedJob {
  readonly app: string;
  readonly job: string;
  readonly instance: string;
  readonly run: string;
  readonly when: string;
  readonly on: 'each' | 'one';
  /** null: no time is due; it is paused, stopped with its app, or runs after deploys. */
  readonly next: string | null;
  readonly running: JobEntry['run'];
  readonly waiting: string | null;
  readonly paused: JobEntry['paused'];
  readonly stopped: boolean;
  readonly trouble: JobEntry['trouble'];
  readonly last: JobEntry['runs'][number] | null;
  /** The newest 20 that are over, the newest first. */
  readonly runs: JobEntry['runs'];
  /** Of `on: one`: the newest time that another server has had. */
  readonly elsewhere: { readonly server: string; readonly due: string } | null;
}

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
    'is the newest run, NEXT the next due time. runner status shows which have failed or were missed.',
  positionals: { app: { about: 'Name of the app [default: all]' } },
  examples: ['runner jobs', 'runner jobs shop --json'],
  async run({ io, paths, args }) {
    const names = args.app === undefined ? appNames(paths) : [args.app];
    const jobs: ListedJob[] = [];
    for (const name of names) {
      const state = requireApp(paths, name);
      const { app } = state;
      const book = presentJobs(readJobBook(paths, app));
      if (book.length === 0) continue;
      // A command may contain a secret.
      const redact = await redactorForAny({ paths, env: io.env }, app);
      for (const [job, entry] of book)
        jobs.push(cleanRecord({ ...listed(state, job, entry) }, redact));
    }
    return { value: { count: jobs.length, jobs } satisfies JobList };
  },
  human: ({ jobs }: JobList, style) => {
    if (jobs.length === 0) return 'No jobs: a .deploy.yml with a section jobs has some.\n';
    const rows = jobs.map((each) => [
      harmlessLine(each.app),
      harmlessLine(each.job),
      harmlessLine(each.when),
      lastWords(each),
      nextWords(each),
    ]);
    return table([['APP', 'JOB', 'WHEN', 'LAST', 'NEXT'], ...rows], style);
  },
});

function listed(state: AppState, job: string, entry: JobEntry): ListedJob {
  const { rules, instance, next, run, waiting, paused, trouble, runs, elsewhere = null } = entry;
  const { run: command_, when, on = 'each' } = rules;
  const last = runs[0] ?? null;
  const about = { app: state.app, job, instance, run: command_, when, on };
  const stopped = isStopped(state, entry);
  const rests = paused !== null || stopped;
  const now = { next: rests ? null : next, running: run, waiting, paused, stopped, trouble };
  return { ...about, ...now, last, runs, elsewhere };
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
  if (paused) return `paused by ${harmlessLine(paused.by)}`;
  if (stopped) return 'stopped';
  if (waiting !== null) return 'waits';
  return next === null ? '-' : shortTime(next);
}

/** Columns side by side; a row with a failure is red. */
function table(rows: readonly (readonly string[])[], style: Style): string {
  const [head = []] = rows;
  const widths = head.map((_, at) => Math.max(...rows.map((row) => [...(row[at] ?? '')].length)));
  const lines = rows.map((row) =>
    row.map((text, at) => (at === row.length - 1 ? text : text.padEnd(widths[at] ?? 0))).join('  '),
  );
  const coloured = lines.map((line, at) => {
    if (at === 0) return style.bold(line);
    return /^(?:failed|killed|missed) /.test(rows[at]?.[3] ?? '') ? style.red(line) : line;
  });
  return `${coloured.join('\n')}\n`;
}
