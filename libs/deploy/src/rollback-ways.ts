/** Where a rollback by hand leads: which release each instance goes to, and the state afterwards. */
import type { AppState, Deployed } from '@runner/common/apps';
import { Failure } from '@runner/common/failure';
import { isThere } from '@runner/common/files';
import type { Paths } from '@runner/common/paths';

/** One instance and where it goes. */
export interface Way {
  readonly name: string;
  readonly from: Deployed;
  readonly to: Deployed;
}

/** What an operator asked for. */
interface Wish {
  readonly to: string | undefined;
  readonly instance: string | undefined;
}

/**
 * Where each instance goes. Every release is there before anything is switched. Throws
 * `instance_not_found`, `version_not_found`.
 */
export function waysOf(paths: Paths, app: AppState, { instance, to }: Wish): [Way, ...Way[]] {
  if (instance !== undefined && !Object.hasOwn(app.instances, instance)) {
    throw new Failure(
      'instance_not_found',
      `'${app.app}' has no instance '${instance.slice(0, 80)}' that was deployed`,
    );
  }
  const ways = Object.entries(app.instances)
    .filter(([name, { current }]) => current && (instance === undefined || name === instance))
    .map(([name, { current, previous }]) => {
      const wanted =
        to === undefined
          ? previous.find((each) => each.commit !== current?.commit)
          : previous.find((each) => each.version === to || each.release === to);
      return { name, from: current as Deployed, to: wanted };
    });
  const missing = ways.find(
    (way) => !way.to || !isThere(paths.app(app.app).release(way.to.release)),
  );
  if (ways.length === 0 || missing) {
    const kept = Object.values(app.instances).flatMap(({ previous }) =>
      previous.map((each) => each.version),
    );
    const list = kept.length > 0 ? `; kept: ${[...new Set(kept)].join(', ')}` : '';
    throw new Failure(
      'version_not_found',
      to === undefined
        ? `'${app.app}' has no earlier version to go back to`
        : `'${app.app}' has no kept version '${to.slice(0, 80)}'${list}`,
    );
  }
  return ways as [Way, ...Way[]];
}

/** The ways of a rollback that was killed, from what it noted. */
export function notedWays(app: AppState, noted: Readonly<Record<string, unknown>>): Way[] {
  return Object.entries(noted).flatMap(([name, release]) => {
    const instance = app.instances[name];
    const to = instance?.previous.find((each) => each.release === release);
    return instance?.current && to ? [{ name, from: instance.current, to }] : [];
  });
}

/** The state once every instance has arrived: the abandoned commit is held. */
export function rolledBackState(app: AppState, ways: readonly Way[], now: Date): AppState {
  const [first] = ways;
  const held = first ? heldBy(now, first) : app.held;
  return { ...app, instances: moved(app, ways), held, deploying: null };
}

/** The abandoned version stays the last of those that can be chosen with `--to`. */
function moved(app: AppState, ways: readonly Way[]): AppState['instances'] {
  const instances = { ...app.instances };
  for (const { name, from, to } of ways) {
    const before = instances[name];
    const older = (before?.previous ?? []).filter((each) => each.release !== to.release);
    const rest = older.filter((each) => each.deployed_at < to.deployed_at);
    const newer = older.filter((each) => each.deployed_at >= to.deployed_at);
    instances[name] = { ...before, current: to, previous: [...rest, ...newer, from] };
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
