/**
 * A version that dies while the one before still drains: the requests go back to that one, and the
 * operation has failed after all.
 */
import { liveSlot, otherSlot, type SlotState } from '@runner/common/apps/slots';
import type { AppState, Deployed } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import { fileOfRelease } from '../instances/kept-file.ts';
import { serve, stopSlot } from '../instances/slots.ts';
import { keptTarget } from '../instances/target.ts';
import { type Deploy, type Operation, say } from '../journal/operation.ts';
import { StepFailure } from '../run/step.ts';
import { conclude } from './conclude.ts';
import { deployFailed, rollbackFailed } from './endings.ts';

/** Called under the app's lock, while the version before still runs. */
export async function goBack(op: Operation, name: string, how: string): Promise<void> {
  const app = requireApp(op.paths, op.app.app);
  const { current, previous = [], slots } = app.instances[name] ?? {};
  const live = liveSlot(op.paths.app(app.app).instance(name));
  if (!current || !live) return;
  const dead = slots?.[live];
  const held = slots?.[otherSlot(live)];
  const target = held && keptTarget(op, name, held, otherSlot(live));
  if (!dead || !target) return;
  await serve(op, target);
  await stopSlot(op, name, live);
  const words = `drain: ${current.version} of ${name} ${how} while it got the requests`;
  say(op, `${words}; ${held.version} gets them again`);
  op.lost = new StepFailure('drain', words);
  const to = previous.find(({ release }) => release === held.release);
  // After a restart both are the same release.
  if (to) recordLoss({ ...op, app }, { name, dead, current, to, error: op.lost });
}

/** An instance that goes back: what it ran, and what it runs again. */
interface Loss {
  readonly name: string;
  readonly dead: SlotState;
  readonly current: Deployed;
  readonly to: Deployed;
  readonly error: StepFailure;
}

function recordLoss(op: Operation, { name, dead, current, to, error }: Loss): void {
  const { commit, version } = current;
  const deploy: Deploy = {
    ...op,
    commit,
    version,
    app: backOn(op.app, name, to),
    deployId: dead.deploy_id,
    instances: [name],
    skippedHead: op.app.head,
    partial: true,
    returns: false,
    about: {},
    changes: current.changes ?? { count: null, subjects: [], authors: [] },
  };
  const moves = [{ instance: name, from: current, to, wasSwitched: true }];
  const file = fileOfRelease(op.paths, op.app.app, current);
  const facts = { error, moves, at: name, file, isInterrupted: false };
  const isOfDeploy = dead.deploy_id === current.deploy_id;
  const ending = isOfDeploy ? deployFailed(deploy, facts) : rollbackFailed(deploy, facts);
  conclude(op, { ...ending, state: (now, at) => ending.state(backOn(now, name, to, at), at) });
}

/** The version that died is no longer one that a rollback could choose. */
function backOn(app: AppState, name: string, to: Deployed, at = to.deployed_at): AppState {
  const { previous = [], ...rest } = app.instances[name] ?? {};
  const kept = previous.filter(({ release }) => release !== to.release);
  const instance = { ...rest, current: to, previous: kept, active_since: at };
  return { ...app, instances: { ...app.instances, [name]: instance } };
}
