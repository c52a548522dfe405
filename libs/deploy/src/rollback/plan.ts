/** The plan of a rollback by hand: which release each instance goes to. */
import type { AppState, Deployed, InstanceState } from '@runner/common/apps/state';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import { isRestorable } from '../instances/kept-file.ts';
import { failedSince, isOlder, isRestart, type KeptMove } from '../record/after-rollback.ts';

/** Where the instances go, and in words why others stay as they are. */
export interface RollbackPlan {
  readonly moves: readonly [KeptMove, ...KeptMove[]];
  readonly staying: readonly string[];
}

/** What an operator asked for. */
export interface RollbackTarget {
  readonly to: string | undefined;
  readonly instance: string | undefined;
}

/** The newest deploy failed, so there is nothing to roll back from. */
export interface NothingToDo {
  readonly version: string;
  readonly instance: string;
  readonly failed_version: string;
  /** What `--to` would go to; null if nothing older is kept. */
  readonly earlier_version: string | null;
}

/** Whether the newest deploy failed, without `--to`; undefined if there is something to do. */
export function nothingToDo(
  paths: Paths,
  app: AppState,
  { instance, to }: RollbackTarget,
): NothingToDo | undefined {
  const chosen = Object.entries(app.instances).filter(
    ([name, { current }]) => current && (instance === undefined || name === instance),
  );
  const [first] = chosen;
  if (to !== undefined || !first || chosen.some(([, { broken }]) => broken)) return undefined;
  const names = chosen.map(([name]) => name);
  const failed = failedSince(app, names);
  const [, state] = first;
  if (!failed || !state.current) return undefined;
  return {
    version: state.current.version,
    instance: names.join(','),
    failed_version: failed.version,
    earlier_version: destination(state, to, keptIn(paths, app))?.version ?? null,
  };
}

function keptIn(paths: Paths, app: AppState): (each: Deployed) => boolean {
  return (version) => isRestorable(paths, app.app, version);
}

/**
 * Each instance goes to its previous version, never forward, or to the version that was asked for,
 * or, if it is broken, to the version it should run. Throws `instance_not_found`,
 * `version_not_found`.
 */
export function planRollback(
  paths: Paths,
  app: AppState,
  { instance, to }: RollbackTarget,
): RollbackPlan {
  if (instance !== undefined && !Object.hasOwn(app.instances, instance)) {
    throw new Failure(
      'instance_not_found',
      `'${app.app}' has no instance '${instance.slice(0, 80)}' that was deployed`,
    );
  }
  const isKept = keptIn(paths, app);
  const found = Object.entries(app.instances).flatMap(([name, state]) =>
    state.current && (instance === undefined || name === instance)
      ? [
          {
            instance: name,
            from: state.current,
            to: destination(state, to, isKept),
            isBroken: Boolean(state.broken),
          },
        ]
      : [],
  );
  const reachable = found.filter((each): each is typeof each & KeptMove => each.to !== undefined);
  const wanted = reachable.filter(
    (each) => each.isBroken || (to !== undefined && !isRestart(each)),
  );
  // What goes elsewhere comes first: the answer is about it.
  const chosen = (wanted.length > 0 ? wanted : reachable).sort(
    (a, b) => Number(isRestart(a)) - Number(isRestart(b)),
  );
  const [first, ...others] = chosen.map(({ isBroken: _, ...move }) => move);
  if (!first) throw nothingKept(app, to, instance);
  const staying = found
    .filter((each) => !chosen.some((move) => move.instance === each.instance))
    .map((each) => `${each.instance} ${whyItStays(each.to, to)}: it stays at ${each.from.version}`);
  return { moves: [first, ...others], staying };
}

function destination(
  { current, previous, broken }: InstanceState,
  to: string | undefined,
  isKept: (each: Deployed) => boolean,
): Deployed | undefined {
  const kept = [current, ...previous].filter((each): each is Deployed => !!each && isKept(each));
  if (to !== undefined)
    return kept.find((each) => [each.version, each.release, each.commit].includes(to));
  if (broken && kept[0] === current) return kept[0];
  return kept.find((each) => current && each.commit !== current.commit && isOlder(each, current));
}

function whyItStays(target: Deployed | undefined, to: string | undefined): string {
  if (target) return 'is not broken';
  return to === undefined ? 'has no earlier version' : `has no kept version '${to.slice(0, 80)}'`;
}

function nothingKept(app: AppState, to: string | undefined, instance: string | undefined): Failure {
  const kept = Object.entries(app.instances).flatMap(([name, { previous }]) =>
    instance === undefined || name === instance ? previous.map((each) => each.version) : [],
  );
  const of = instance === undefined ? '' : ` for ${instance}`;
  const list = kept.length > 0 ? `; kept: ${[...new Set(kept)].join(', ')}` : '';
  return new Failure(
    'version_not_found',
    to === undefined
      ? `'${app.app}' has no earlier version to go back to${of}`
      : `'${app.app}' has no kept version '${to.slice(0, 80)}'${of}${list}`,
  );
}
