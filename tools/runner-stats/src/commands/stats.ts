import { jobSummaries } from '@runner/common/apps/job-book';
import { listApps } from '@runner/common/apps/store';
import { command } from '@runner/common/cli/command';
import type { Paths } from '@runner/common/foundation/paths';
import { readDeploys } from '@runner/history/deploys/read';
import { figuresOf } from '@runner/history/figures/figures';
import { DEPLOYS_OF, deploysOf, periodSince, readsLog, SINCE } from '@runner/history/log/options';
import { type AppJob, jobsText, prometheusText } from '../prometheus.ts';
import { statsText } from '../stats-text.ts';

export const stats = command({
  needsRoot: readsLog,
  about: 'Count deploys, failures, and how long they took',
  details:
    'Deploys per day, lead time (from the commit to the success), change failure rate, time to restore,\n' +
    'durations and the slowest steps; docs/history.md defines them. TIME is ISO 8601 (UTC unless it has\n' +
    'a zone), a date, or how long ago: 30m, 2h, 7d. --prometheus prints the figures of each app for the\n' +
    "node exporter's textfile collector. With - the records come from standard input.",
  positionals: DEPLOYS_OF,
  options: {
    since: { ...SINCE, default: '30d' },
    prometheus: {
      about: 'Print metrics of each app for Prometheus',
      conflicts: ['json', 'output'],
    },
  },
  examples: ['runner stats', 'runner stats shop --since 90d --json', 'runner stats --prometheus'],
  safeInForeignRoot: true,
  async run({ io, paths, args, options, format, note, style }) {
    const now = io.now();
    const period = periodSince(options.since, now);
    const { project, isPiped } = deploysOf(args);
    const input = isPiped ? io.stdin : undefined;
    // A timer would mail the note at each run.
    const since = options.prometheus ? undefined : period.since;
    const history = await readDeploys({ paths, project, input, since, note });
    const width = io.stdout.isTTY ? io.stdout.columns : undefined;
    if (options.prometheus) {
      const jobs = isPiped ? [] : jobsOf(paths, project);
      io.stdout.write(prometheusText(history, period) + jobsText(jobs));
    } else if (format !== 'human') return { value: figuresOf(history, period) };
    else io.stdout.write(statsText({ history, period, app: project }, style, width));
    return {};
  },
});

/** The jobs of one app, or of all. */
function jobsOf(paths: Paths, only: string | undefined): AppJob[] {
  const apps = listApps(paths).apps.filter(({ app }) => only === undefined || app === only);
  return apps.flatMap((state) =>
    jobSummaries(paths, state).map((job) => ({ ...job, app: state.app })),
  );
}
