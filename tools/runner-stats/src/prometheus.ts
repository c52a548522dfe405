/** The figures of each app in Prometheus' text format. */
import type { JobSummary } from '@runner/common/apps/job-book';
import {
  escapedLabel,
  exposition,
  type Metric,
  type MetricSample,
} from '@runner/common/text/prometheus';
import type { PastDeploy } from '@runner/history/deploys/deploy';
import {
  type Figures,
  figuresOf,
  type Measured,
  measure,
  type Period,
  percentile,
} from '@runner/history/figures/figures';

interface AppFigures {
  readonly app: string;
  readonly figures: Figures;
  readonly deploys: readonly PastDeploy[];
  readonly measured: Measured;
}

const RESULTS = ['success', 'failed', 'rolled_back', 'interrupted'] as const;

/** Of times in milliseconds. Without `_sum` and `_count`, node_exporter would print both as 0. */
function summary(
  name: string,
  help: string,
  quantiles: readonly number[],
  timesOf: (measured: Measured) => readonly number[],
): Metric<AppFigures> {
  return {
    name,
    help,
    type: 'summary',
    samples({ measured }) {
      const times = timesOf(measured);
      const sum = times.reduce((total, time) => total + time, 0);
      return [
        ...quantiles.map((part): MetricSample => {
          return [`quantile="${part}"`, inSeconds(percentile(times, part * 100))];
        }),
        ['', inSeconds(sum), '_sum'],
        ['', times.length, '_count'],
      ];
    },
  };
}

const METRICS: readonly Metric<AppFigures>[] = [
  {
    name: 'runner_deploys',
    help: 'Deploys in the period, by result.',
    samples: ({ deploys }) =>
      RESULTS.map((result) => [
        `result="${result}"`,
        deploys.filter((deploy) => deploy.result === result).length,
      ]),
  },
  {
    name: 'runner_changes',
    help: 'Deploys in the period whose version served.',
    samples: ({ figures }) => [['', figures.changes]],
  },
  {
    name: 'runner_change_failure_ratio',
    help: 'Share of failed changes in the period.',
    samples: ({ figures }) => [['', figures.change_failure_rate]],
  },
  summary(
    'runner_lead_time_seconds',
    'Time from the commit to the success.',
    [0.5, 0.9],
    ({ leads }) => leads,
  ),
  summary(
    'runner_time_to_restore_seconds',
    'Time from a failed change to the next success or rollback.',
    [0.5, 0.9],
    ({ restores }) => restores,
  ),
  summary(
    'runner_deploy_duration_seconds',
    'Duration of the deploys.',
    [0.5, 0.95],
    ({ durations }) => durations,
  ),
  {
    name: 'runner_last_deploy_timestamp_seconds',
    help: 'Start of the last deploy in the period.',
    samples: ({ deploys }) => [['', inSeconds(deploys.at(-1)?.start ?? null)]],
  },
];

/** A job, for its metrics. */
export interface AppJob extends JobSummary {
  readonly app: string;
}

const ofJob = (
  name: string,
  help: string,
  value: (job: AppJob) => number | null,
): Metric<AppJob> => ({
  name,
  help,
  samples: (job) => [[`job="${escapedLabel(job.job)}"`, value(job)]],
});

const JOB_METRICS: readonly Metric<AppJob>[] = [
  ofJob(
    'runner_job_trouble',
    '1 while a job has failed or was missed, and no run has succeeded since.',
    ({ trouble }) => (trouble === null ? 0 : 1),
  ),
  ofJob('runner_job_last_run_timestamp_seconds', 'Start of the last run of a job.', ({ last }) =>
    inSeconds(last && Date.parse(last.at)),
  ),
  ofJob('runner_job_last_run_duration_seconds', 'Duration of the last run of a job.', ({ last }) =>
    inSeconds(last?.ms ?? null),
  ),
];

/** Nothing without jobs. */
export function jobsText(jobs: readonly AppJob[]): string {
  return jobs.length === 0 ? '' : exposition(JOB_METRICS, jobs);
}

export function prometheusText(history: readonly PastDeploy[], period: Period): string {
  const byApp = new Map<string, PastDeploy[]>();
  for (const deploy of history) {
    const own = byApp.get(deploy.project);
    if (own) own.push(deploy);
    else byApp.set(deploy.project, [deploy]);
  }
  const apps = [...byApp]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([app, own]) => {
      const measured = measure(own, period);
      return { app, figures: figuresOf(own, period), deploys: measured.deploys, measured };
    });
  return exposition(METRICS, apps);
}

function inSeconds(milliseconds: number | null): number | null {
  return milliseconds === null ? null : milliseconds / 1000;
}
