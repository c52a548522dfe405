/** What a rollback by hand comes to: its event, and what the app's state becomes. */
import type { AppState, Deployed } from '@runner/common/apps/state';
import type { DeployEvent } from '@runner/common/audit/events';
import { eventOf, type Job } from './job.ts';

/** One instance and where it goes. */
export interface Way {
  readonly name: string;
  readonly from: Deployed;
  readonly to: Deployed;
}

/** Whether the release that is active is started again. */
export function isRestart({ from, to }: Way): boolean {
  return from.release === to.release;
}

/** The event of an instance that has arrived. */
export function rolledBackEvent(job: Pick<Job, 'io' | 'app' | 'deployId'>, way: Way): DeployEvent {
  const { name, from, to } = way;
  const reason = isRestart(way) ? 'started again by hand' : 'manual';
  return eventOf(
    { ...job, commit: to.commit, version: to.version, trigger: 'manual' },
    'RollbackSuccess',
    { instance: name, from_version: from.version, reason },
  );
}

/** The ways of a rollback that was killed, from what it noted. */
export function notedWays(app: AppState, noted: Readonly<Record<string, unknown>>): Way[] {
  return Object.entries(noted).flatMap(([name, release]) => {
    const instance = app.instances[name];
    const kept = [instance?.current, ...(instance?.previous ?? [])];
    const to = kept.find((each) => each?.release === release);
    return instance?.current && to ? [{ name, from: instance.current, to }] : [];
  });
}

/** The state once every instance has arrived: the abandoned commit is held. */
export function rolledBackState(app: AppState, ways: readonly Way[], now: Date): AppState {
  const left = ways.find((way) => !isRestart(way));
  const held = left ? heldBy(now, left) : app.held;
  return { ...app, instances: moved(app, ways, now), held, deploying: null };
}

/** The abandoned version stays the last of those that can be chosen with `--to`. */
function moved(app: AppState, ways: readonly Way[], now: Date): AppState['instances'] {
  const instances = { ...app.instances };
  for (const way of ways) {
    const { name, from, to } = way;
    const { broken: _, ...before } = instances[name] ?? { previous: [] };
    const older = before.previous.filter((each) => each.release !== to.release);
    const rest = older.filter((each) => each.deployed_at < to.deployed_at);
    const newer = older.filter((each) => each.deployed_at >= to.deployed_at);
    const previous = isRestart(way) ? before.previous : [...rest, ...newer, from];
    instances[name] = { ...before, current: to, active_since: now.toISOString(), previous };
  }
  return instances;
}

/** Going forward again holds nothing. */
function heldBy(now: Date, { from, to }: Way): AppState['held'] {
  if (to.deployed_at > from.deployed_at) return null;
  return {
    commit: from.commit,
    since: now.toISOString(),
    reason: `${from.version} was rolled back by hand`,
  };
}
