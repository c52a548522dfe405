/** The plan of a manual rollback: which release each instance goes to. */

import type { Deployed } from '@runner/common/apps/deployed';
import { refuseRestored } from '@runner/common/apps/restored';
import type { AppState, InstanceState } from '@runner/common/apps/state';
import { versionArgument, versionLabel } from '@runner/common/apps/versions';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import { choiceOf } from '@runner/common/text/nearest';
import { isRestorable } from '../instances/kept-file.ts';
import { failedSince, isOlder, isRestart, type KeptMove } from '../journal/after-rollback.ts';

/** What an operator asked for. */
export interface RollbackTarget {
  /** A version; undefined: the previous one. */
  readonly to: string | undefined;
  /** Only this one; undefined: all. */
  readonly instance: string | undefined;
  /** First to what is kept running for it, also of the same commit, or kept no more. */
  readonly isOfWatch?: boolean;
  /** Instances of which that is no healthier: an earlier one comes first. */
  readonly sick?: readonly string[];
}

/** Where each instance goes, for the plan that is bound to it. */
export function goalsOf({
  moves,
}: {
  readonly moves: readonly KeptMove[];
}): Record<string, string> {
  return Object.fromEntries(
    moves.map(({ instance, to }) => [`goal of ${instance}`, `${to.version} (${to.release})`]),
  );
}

/** Whether the newest deploy failed, without `--to`; undefined if there is something to do. */
export function nothingToDo(paths: Paths, app: AppState, { instance, to }: RollbackTarget) {
  const chosen = instancesOf(app, instance).filter(([, { current }]) => current);
  const [first] = chosen;
  if (to !== undefined || !first || chosen.some(([, { broken }]) => broken)) return undefined;
  const names = chosen.map(([name]) => name);
  const failed = failedSince(app, names);
  const [, state] = first;
  const { current, previous } = state;
  if (!failed || !current) return undefined;
  const earlier = earlierThan(state, keptIn(paths, app));
  return {
    version: versionLabel(current, [failed]),
    instance: names.join(','),
    failed_version: versionLabel(failed, [current]),
    /** What `--to` would go to; null if nothing older is kept. */
    earlier_version: earlier ? versionArgument(earlier, [current, ...previous]) : null,
  };
}

function instancesOf({ instances }: AppState, only: string | undefined): [string, InstanceState][] {
  return Object.entries(instances).filter(([name]) => only === undefined || name === only);
}

function keptIn(paths: Paths, app: AppState): (each: Deployed) => boolean {
  return (version) => isRestorable(paths, app.app, version);
}

/**
 * Each instance goes to its previous version, never forward, or to the version that was asked for,
 * or, if it is broken, to the version it should run; `staying` says in words why others stay as they are.
 * Throws `instance_not_found`, `version_not_found`.
 */
export function planRollback(
  paths: Paths,
  app: AppState,
  { instance, to, isOfWatch, sick = [] }: RollbackTarget,
) {
  refuseRestored(app, instance);
  if (instance !== undefined && !Object.hasOwn(app.instances, instance)) {
    const known = Object.keys(app.instances);
    throw new Failure(
      'instance_not_found',
      `'${app.app}' has no instance '${instance.slice(0, 80)}' that was deployed${choiceOf('it has', instance, known)}`,
    );
  }
  const isKept = keptIn(paths, app);
  const found = instancesOf(app, instance).flatMap(([name, state]) => {
    const { current: from, broken, draining } = state;
    if (!from) return [];
    const warm = isOfWatch ? draining?.from : undefined;
    const other = destination(app.app, state, to, isKept);
    const isWay = warm && isKept(warm) && !(other && sick.includes(name));
    const goal = isWay ? warm : other;
    return [{ instance: name, from, to: goal, isBroken: Boolean(broken) }];
  });
  const reachable = found.filter((each): each is typeof each & KeptMove => each.to !== undefined);
  const wanted = reachable.filter(
    (each) => each.isBroken || (to !== undefined && !isRestart(each)),
  );
  // What goes elsewhere comes first: the answer is about it.
  const chosen = (wanted.length > 0 ? wanted : reachable).sort(
    (a, b) => Number(isRestart(a)) - Number(isRestart(b)),
  );
  const [first, ...others] = chosen.map(({ isBroken: _, ...move }) => move);
  if (!first) throw nothingKept(app, { to, instance }, isKept);
  const staying = found
    .filter((each) => !chosen.some((move) => move.instance === each.instance))
    .map((each) => `${each.instance} ${whyItStays(each.to, to)}: it stays at ${each.from.version}`);
  const moves: readonly [KeptMove, ...KeptMove[]] = [first, ...others];
  return { moves, staying };
}

function destination(
  app: string,
  state: InstanceState,
  to: string | undefined,
  isKept: (each: Deployed) => boolean,
): Deployed | undefined {
  const { current, previous, broken } = state;
  const all = [current ?? [], ...previous].flat();
  if (to !== undefined) return chosen(app, all.filter(isKept), to);
  if (broken && current && isKept(current)) return current;
  return earlierThan(state, isKept);
}

/** The newest kept version of another commit that is older than the active one. */
export function earlierThan(
  { current, previous }: Pick<InstanceState, 'current' | 'previous'>,
  isKept: (each: Deployed) => boolean = () => true,
): Deployed | undefined {
  return previous.find(
    (each) => current && each.commit !== current.commit && isOlder(each, current) && isKept(each),
  );
}

/** The kept version with this name: a version, a release, or a commit by its first 7 characters. */
function chosen(app: string, kept: readonly Deployed[], to: string): Deployed | undefined {
  const isCommit = /^[0-9a-f]{7,}$/.test(to);
  const exact = kept.find(({ release, commit }) => release === to || commit === to);
  const found = kept.filter(
    ({ version, commit }) => version === to || (isCommit && commit.startsWith(to)),
  );
  const [first, other] = exact ? [exact] : found;
  if (!first || !other || found.every(({ commit }) => commit === first.commit)) return first;
  const commits = found.map(({ commit }) => commit.slice(0, 12));
  throw new Failure(
    'ref_ambiguous',
    `'${app}' keeps ${found.length} commits of ${first.version}: ${commits.join(', ')}; choose one: runner rollback ${app} --to ${other.commit.slice(0, 12)}`,
  );
}

function whyItStays(target: Deployed | undefined, to: string | undefined): string {
  if (target) return 'is not broken';
  return to === undefined ? 'has no earlier version' : `has no kept version '${to.slice(0, 80)}'`;
}

function nothingKept(
  app: AppState,
  { to, instance }: RollbackTarget,
  isKept: (each: Deployed) => boolean,
): Failure {
  const versions = instancesOf(app, instance).map(([, { current, previous }]) => ({
    all: [current, ...previous].filter((each) => each !== null),
    previous,
  }));
  const isGone = (each: Deployed) => each.version === to && !isKept(each);
  if (versions.some(({ all }) => all.some(isGone)))
    return new Failure(
      'version_not_found',
      `the release of ${to} of '${app.app}' is no longer there: run runner deploy ${app.app} --ref ${to}`,
    );
  const kept = versions.flatMap(({ all, previous }) =>
    previous.filter(isKept).map((each) => versionArgument(each, all)),
  );
  const of = instance === undefined ? '' : ` for ${instance}`;
  return new Failure(
    'version_not_found',
    to === undefined
      ? `'${app.app}' has no earlier version to roll back to${of}`
      : `'${app.app}' has no kept version '${to.slice(0, 80)}'${of}${choiceOf('kept', to, [...new Set(kept)])}`,
  );
}
