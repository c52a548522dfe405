/** What the state of an app becomes after a rollback by hand. */
import type { AppState, Deployed } from '@runner/common/apps/state';
import type { Move } from './operation.ts';

/** A move of a rollback by hand: both versions are kept releases. */
export interface KeptMove extends Move {
  readonly from: Deployed;
  readonly to: Deployed;
}

/** Whether the active release is only started again. */
export function isRestart({ from, to }: KeptMove): boolean {
  return from.release === to.release;
}

/** The reason that the events of a rollback by hand give. */
export function reasonOf(move: KeptMove): string {
  return isRestart(move) ? 'started again by hand' : 'manual';
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

/** The state once every instance runs its version: the commit it was rolled back from is on hold. */
export function rolledBackState(app: AppState, moves: readonly KeptMove[], now: Date): AppState {
  const left = moves.find((move) => !isRestart(move));
  const held = left ? holdAfter(now, left) : app.held;
  return { ...app, instances: moved(app, moves, now), held, deploying: null };
}

/** The version that was left comes last among those that `--to` can choose. */
function moved(app: AppState, moves: readonly KeptMove[], now: Date): AppState['instances'] {
  const instances = { ...app.instances };
  for (const move of moves) {
    const { instance, from, to } = move;
    const { broken: _, ...before } = instances[instance] ?? { previous: [] };
    const others = before.previous.filter((each) => each.release !== to.release);
    const older = others.filter((each) => each.deployed_at < to.deployed_at);
    const newer = others.filter((each) => each.deployed_at >= to.deployed_at);
    const previous = isRestart(move) ? before.previous : [...older, ...newer, from];
    instances[instance] = { ...before, current: to, active_since: now.toISOString(), previous };
  }
  return instances;
}

/** Going forward again ends the hold. */
function holdAfter(now: Date, { from, to }: KeptMove): AppState['held'] {
  if (to.deployed_at > from.deployed_at) return null;
  return {
    commit: from.commit,
    since: now.toISOString(),
    reason: `${from.version} was rolled back by hand`,
  };
}
