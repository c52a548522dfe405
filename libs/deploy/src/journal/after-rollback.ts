/** What the state of an app becomes after a manual rollback. */

import type { Deployed } from '@runner/common/apps/deployed';
import { type Hold, heldCommits } from '@runner/common/apps/hold';
import { withoutStopped } from '@runner/common/apps/operator';
import type { AppState } from '@runner/common/apps/state';
import type { Move } from './operation.ts';

/** A move of a manual rollback: both versions are kept releases. */
export interface KeptMove extends Move {
  readonly from: Deployed;
  readonly to: Deployed;
}

/** Whether the active release is only started again. */
export function isRestart({ from, to }: KeptMove): boolean {
  return from.release === to.release;
}

/** Whether a version was deployed before another one of its instance, whatever the clock did. */
export function isOlder(one: Deployed, other: Deployed): boolean {
  const [first, second] = [one.sequence ?? 0, other.sequence ?? 0];
  // Versions deployed by 0.1.0 have no sequence.
  return first === second ? one.deployed_at < other.deployed_at : first < second;
}

/** The newest deploy, if it failed and so is not what runs. */
export function failedSince(
  { last_failure: failure, instances }: AppState,
  names: readonly string[] = Object.keys(instances),
): AppState['last_failure'] {
  if (!failure || failure.rollback || failure.stage === 'fetch') return null;
  if (failure.followed_by) {
    return names.some((name) => failure.followed_by?.includes(name)) ? null : failure;
  }
  const since = names.flatMap(
    (name) => instances[name]?.active_since ?? instances[name]?.current?.deployed_at ?? [],
  );
  return since.every((time) => time <= failure.at) ? failure : null;
}

/** The reason that the events of a manual rollback give. */
export function reasonOf(move: KeptMove): string {
  return isRestart(move) ? 'started again manually' : 'manual';
}

/** The moves of a rollback that was killed, as recorded in the state. */
export function recordedMoves(app: AppState): KeptMove[] {
  return Object.entries(app.deploying?.rollback ?? {}).flatMap(([name, release]) => {
    const instance = app.instances[name];
    const kept = [instance?.current, ...(instance?.previous ?? [])];
    const to = kept.find((each) => each?.release === release);
    return instance?.current && to ? [{ instance: name, from: instance.current, to }] : [];
  });
}

/** What a rollback goes to is kept from its beginning: after a kill it is found there. */
export function keeping(app: AppState, moves: readonly KeptMove[]): AppState {
  const instances = { ...app.instances };
  for (const { instance: name, to } of moves) {
    const instance = instances[name];
    if (!instance) continue;
    const { current, previous } = instance;
    const isKept = [current, ...previous].some((each) => each?.release === to.release);
    if (!isKept) instances[name] = { ...instance, previous: [to, ...previous] };
  }
  return { ...app, instances };
}

/** The state once every instance runs its version. */
export function rolledBackState(
  app: AppState,
  moves: readonly KeptMove[],
  { now, by, reason }: { now: Date; by: string; reason: string | undefined },
  isRestored = false,
): AppState {
  const hold = { since: now.toISOString(), by };
  const instances = moved(app, moves, hold);
  const left = leftBy(app, moves, isRestored);
  const did = reason === undefined ? 'was rolled back by hand' : `failed its ${reason}`;
  const held = holdAfter({ ...app, instances }, left, { ...hold, did });
  const last_failure = followed(
    app.last_failure,
    moves.map(({ instance }) => instance),
  );
  const names = moves.map(({ instance }) => instance);
  const stopped = withoutStopped(app, names);
  return { ...app, instances, held, last_failure, stopped, deploying: null, watch: null };
}

/** The latest failure, followed by a switch of these instances. */
export function followed(failure: AppState['last_failure'], names: readonly string[]) {
  if (!failure?.followed_by) return failure ?? null;
  return { ...failure, followed_by: [...new Set([...failure.followed_by, ...names])] };
}

/** The version that was left comes last among those that `--to` can choose. */
function moved(
  app: AppState,
  moves: readonly KeptMove[],
  { since: active_since, by: active_by }: Pick<Hold, 'since' | 'by'>,
): AppState['instances'] {
  const instances = { ...app.instances };
  for (const move of moves) {
    const { instance, from, to } = move;
    const { broken: _, active_by: __, ...before } = instances[instance] ?? { previous: [] };
    const others = before.previous.filter((each) => each.release !== to.release);
    const older = others.filter((each) => isOlder(each, to));
    const newer = others.filter((each) => !isOlder(each, to));
    const previous = isRestart(move) ? before.previous : [...older, ...newer, from];
    const since = { active_since, ...(active_by !== undefined && { active_by }) };
    instances[instance] = { ...before, ...since, current: to, previous };
  }
  return instances;
}

/** A commit that an operator left, and its version. */
type Left = Pick<Deployed, 'commit' | 'version'>;

/** The newest first. If only the database went back, what failed after it had changed it. */
function leftBy(app: AppState, moves: readonly KeptMove[], isRestored: boolean): readonly Left[] {
  const left = moves.filter((move) => !isRestart(move)).map(({ from }) => from);
  const failed = isRestored && left.length === 0 ? failedSince(app) : null;
  return failed ? [failed] : left.sort((a, b) => (isOlder(a, b) ? 1 : -1));
}

/** Holds what was left, which `did` that, and the head of the branch if it is known. `app`: as it is since. */
export function holdAfter(
  app: AppState,
  left: readonly Left[],
  { did, ...hold }: Pick<Hold, 'since' | 'by'> & { readonly did: string },
): AppState['held'] {
  const [newest] = left;
  if (!newest) return app.held;
  const head = app.head ?? app.held?.commit ?? failedSince(app)?.commit ?? newest.commit;
  const isAtHead = Object.values(app.instances).every(
    ({ current }) => !current || current.commit === head,
  );
  if (isAtHead) return null;
  const before = app.held ? heldCommits(app.held) : [];
  const earlier = app.held?.commit === head ? app.held.rolled_back : undefined;
  const itself = left.find(({ commit }) => commit === head)?.version ?? earlier;
  const isNamed = app.head_version?.commit === head;
  const waits = (isNamed && app.head_version?.version) || head.slice(0, 12);
  return {
    commit: head,
    head,
    commits: [...new Set([...before, head, ...left.map(({ commit }) => commit)])],
    ...hold,
    ...(itself !== undefined && { rolled_back: itself }),
    reason: `${itself ?? newest.version} ${did}${itself === undefined ? `; ${waits} waits` : ''}`,
  };
}
