/** A snapshot in words, for terminals and pages; times are in UTC. */
import type { InstanceSummary } from '@runner/common/apps/instance-summary';
import { type JobSummary, nextOfJob } from '@runner/common/apps/job-book';
import { shownHoldWords } from '@runner/common/apps/operator';
import { operationWord } from '@runner/common/apps/progress';
import { type AppSummary, needsAttention } from '@runner/common/apps/summary';
import { deployedSince, overWords } from '@runner/common/apps/versions';
import type { Snapshot } from './snapshot.ts';

/** `2026-05-04 09:30`. */
export function minuteOf(time: string): string {
  return time.slice(0, 16).replace('T', ' ');
}

/** `3 apps, 1 needs attention`. */
export function countWords({ apps, unreadable }: Snapshot): string {
  const all = apps.length + unreadable.length;
  const bad = apps.filter(needsAttention).length + unreadable.length;
  const attention = bad === 0 ? '' : `, ${bad} ${bad === 1 ? 'needs' : 'need'} attention`;
  return `${all} ${all === 1 ? 'app' : 'apps'}${attention}`;
}

/** The version of an app, or those of its instances where they differ. */
export function versionWords({ instances }: AppSummary): string {
  const versions = instances.map(({ current, restored }) =>
    restored ? `${restored.version} (to deploy)` : (current?.version ?? '-'),
  );
  return [...new Set(versions)].join(', ') || '-';
}

/** The step that runs; why an app is as it is, if something is wrong with it or its requests are held; else what comes next. */
export function reasonWords(app: AppSummary): string {
  const { state, deploying, check_failed: check, last_failure: failure, jobs, instances } = app;
  const { traffic_hold: hold } = app;
  const broken = instances.find((each) => each.broken)?.broken?.reason;
  if (deploying && state === 'deploying') return `${deploying.version} at ${deploying.stage}`;
  if (state === 'broken' && broken) return broken;
  if (state === 'stale' && check) return check.message;
  if ((state === 'failing' || state === 'blocked') && failure) return failure.error;
  if (hold) return shownHoldWords(app.app, hold);
  return jobs.find(({ trouble }) => trouble)?.trouble ?? app.next;
}

export type Fact = readonly [label: string, text: string];

/** Since when, by whom and why. */
function sinceWords(since: string | null, by?: string | null, reason?: string | null): string {
  const parts = [since && `since ${minuteOf(since)}`, by && `by ${by}`, reason && `(${reason})`];
  return parts.filter(Boolean).join(' ');
}

/** What there is to say of an app. */
export function factsOf(app: AppSummary): readonly Fact[] {
  const { deploying, last_failure: failure, watch, watched, held, paused, stopped } = app;
  const { traffic_hold: hold } = app;
  const facts: Fact[] = app.instances.map(instanceFact);
  if (deploying) {
    const { version, stage, started, user } = deploying;
    const where = `${app.state === 'deploying' ? '' : 'interrupted '}at ${stage}`;
    facts.push([operationWord(deploying), `${version} ${where} ${sinceWords(started, user)}`]);
  }
  if (failure) {
    const { version, stage, at, error } = failure;
    const later = deployedSince(app.instances, at);
    const what = `${version} at ${stage}, ${minuteOf(at)}`;
    if (later.length > 0) facts.push(['last failure', `${what}, ${overWords(later)}`]);
    else facts.push(['last failure', what], ['cause', error]);
  }
  if (watch) facts.push(['watch', `${watch.version} until ${minuteOf(watch.until)}`]);
  else if (watched)
    facts.push(['watch', `${watched.version}, ${watched.verdict}: ${watched.reason}`]);
  if (stopped) facts.push(['stopped', sinceWords(stopped.since, stopped.by, stopped.reason)]);
  if (paused) facts.push(['paused', sinceWords(paused.since, paused.by, paused.reason)]);
  if (hold) facts.push(['traffic', shownHoldWords(app.app, hold)]);
  if (held)
    facts.push([
      'on hold',
      `${held.commit.slice(0, 12)} ${sinceWords(held.since, held.by, held.reason)}`,
    ]);
  return [...facts, ...app.jobs.map(jobFact), ['next', app.next]];
}

function instanceFact(each: InstanceSummary): Fact {
  const { instance, current, active_since: since, active_by: by, url, running, stopped } = each;
  const down = running === false ? (stopped ? 'stopped' : 'not running') : '';
  const parts = [current?.version ?? 'nothing runs', sinceWords(since, by), down, url];
  return [instance, parts.filter(Boolean).join(', ')];
}

function jobFact(summary: JobSummary): Fact {
  const { job, when, last, trouble } = summary;
  const went = trouble ?? (last ? `${last.outcome} ${minuteOf(last.at)}` : 'not run yet');
  return [`job ${job}`, [when, went, nextOfJob(summary, minuteOf)].filter(Boolean).join(', ')];
}
