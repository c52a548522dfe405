/** Active versions: from the registry, or without access to it from the last success of each app. */
import { type AppSummary, isHealthy } from '@runner/common/apps/summary';
import { timeOfIso } from '@runner/common/text/time';
import type { PastDeploy } from '@runner/history/deploys/deploy';
import { type Cut, cut } from './model.ts';

const RUNNING = 60;

export function runningOf(
  history: readonly PastDeploy[],
  apps: readonly AppSummary[] | undefined,
): Cut<RunningVersion> {
  const last = lastGood(history);
  if (apps === undefined) return cut([...last.values()].map(fromDeploy), RUNNING);
  const all = [...apps]
    .sort((a, b) => Number(isHealthy(a)) - Number(isHealthy(b)))
    .flatMap((app) => fromRegistry(app, last.get(app.app)));
  return cut(all, RUNNING);
}

/** The last successful deploy or rollback of each app, sorted by name. */
function lastGood(history: readonly PastDeploy[]): Map<string, PastDeploy> {
  const last = new Map<string, PastDeploy>();
  for (const deploy of history) if (deploy.result === 'success') last.set(deploy.project, deploy);
  return new Map([...last].sort(([a], [b]) => (a < b ? -1 : 1)));
}

export type RunningVersion = ReturnType<typeof fromDeploy>;

function fromDeploy(deploy: PastDeploy) {
  return {
    project: deploy.project,
    instance: deploy.instances.join(','),
    /** As in `runner list`; empty without access to the registry. */
    state: '' as string,
    version: deploy.version ?? '',
    subject: deploy.subject ?? '',
    since: deploy.end ?? deploy.start,
    by: deploy.user ?? '',
  };
}

/** Merges instances that run the same deploy. */
function fromRegistry(
  { app, state, instances }: AppSummary,
  deploy: PastDeploy | undefined,
): RunningVersion[] {
  const groups = new Map<string, RunningVersion>();
  for (const { instance, current, active_since } of instances) {
    const version = current?.version ?? '';
    const key = current?.deploy_id ?? '';
    const known = groups.get(key);
    const same = deploy?.version === version;
    groups.set(key, {
      project: app,
      state,
      version,
      instance: known ? `${known.instance}, ${instance}` : instance,
      subject: (same && deploy?.subject) || '',
      since: timeOfIso(active_since ?? ''),
      by: (same && deploy?.user) || '',
    });
  }
  if (groups.size > 0) return [...groups.values()];
  const none = { instance: '', version: '', subject: '', since: Number.NaN, by: '' };
  return [{ project: app, state, ...none }];
}
