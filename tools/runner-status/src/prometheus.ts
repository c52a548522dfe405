/** What people set alarms on, in Prometheus' text format. */
import type { AppState } from '@runner/common/apps/state';
import type { AppSummary } from '@runner/common/apps/summary';
import { escapedLabel, exposition, type Metric } from '@runner/common/text/prometheus';
import { timeOfIso } from '@runner/common/text/time';

/** An app, as it is and as the summary shows it. */
export interface Gauged {
  readonly app: string;
  readonly state: AppState;
  readonly summary: AppSummary;
  readonly now: Date;
}

const flag = (holds: boolean) => (holds ? 1 : 0);
/** Seconds since 1970; null for no time. */
const seconds = (iso: string | null | undefined) => (iso ? timeOfIso(iso) / 1000 : null);
const labels = (name: string, value: string) => `${name}="${escapedLabel(value)}"`;
const metric = (name: string, help: string, samples: Metric<Gauged>['samples']) => ({
  name: `runner_app_${name}`,
  help,
  samples,
});

const METRICS: readonly Metric<Gauged>[] = [
  metric('up', '1 while an instance runs, 0 while it does not and no one stopped it.', (each) =>
    each.summary.instances.map(({ instance, running, stopped, broken }) => [
      labels('instance', instance),
      stopped || (running === null && !broken) ? null : flag(running === true && !broken),
    ]),
  ),
  metric(
    'head_behind_seconds',
    'For how long a newer commit is known and not active, in seconds; 0: none.',
    (each) => {
      const since = seconds(each.summary.behind_since);
      return [['', since === null ? 0 : Math.max(0, each.now.getTime() / 1000 - since)]];
    },
  ),
  metric('blocked', '1 while the newest commit failed too often.', ({ summary }) => [
    ['', flag(summary.state === 'blocked')],
  ]),
  metric('check_failed', '1 while fetch cannot look for new commits.', ({ summary }) => [
    ['', flag(summary.check_failed !== null)],
  ]),
  metric('token_end_timestamp_seconds', 'When the token ends.', ({ state }) => [
    ['', seconds(state.state.repohost_token_ends)],
  ]),
  metric('certificate_end_timestamp_seconds', 'When the certificate of a domain ends.', (each) =>
    Object.entries(each.summary.certificates).map(([domain, { ends }]) => [
      labels('domain', domain),
      seconds(ends),
    ]),
  ),
  metric('database_backup_timestamp_seconds', 'When the database was last backed up.', (each) => [
    ['', seconds(each.state.database_backups?.at(-1)?.at)],
  ]),
  metric('job_ok', '1 if the last run of a job succeeded, 0 if it did not.', ({ summary }) =>
    summary.jobs.map(({ job, last, trouble }) => [
      labels('job', job),
      last ? flag(last.outcome === 'ok' && trouble === null) : null,
    ]),
  ),
  metric('job_last_run_seconds', 'Start of the last run of a job, in seconds since 1970.', (each) =>
    each.summary.jobs.map(({ job, last }) => [labels('job', job), seconds(last?.at)]),
  ),
  metric('traffic_held', '1 while an operator holds requests.', ({ summary }) => [
    ['', flag(summary.traffic_hold !== null)],
  ]),
  metric('traffic_lost', '1 while held requests fail: their process died.', ({ summary }) => [
    ['', flag(summary.traffic_hold?.lost === true)],
  ]),
  metric('watching', '1 while a release is judged.', ({ summary }) => [
    ['', flag(summary.watch !== null)],
  ]),
  metric('watch_failed', '1 if the newest watch found the release bad.', ({ summary }) => [
    ['', flag(summary.watched?.verdict === 'bad')],
  ]),
];

/** `backup`: when `runner backup` succeeded last, ISO 8601 UTC; empty if it never did. */
export function gaugesText(apps: readonly Gauged[], unreadable: number, backup: string): string {
  const bad = gauge('unreadable_apps', 'Number of apps whose state cannot be read.', unreadable);
  const help = 'When runner backup last succeeded.';
  return `${exposition(METRICS, apps)}${bad}${gauge('last_backup_timestamp_seconds', help, seconds(backup))}`;
}

function gauge(name: string, help: string, value: number | null): string {
  const sample = value === null || Number.isNaN(value) ? '' : `runner_${name} ${value}\n`;
  return `# HELP runner_${name} ${help}\n# TYPE runner_${name} gauge\n${sample}`;
}
