/**
 * A version that dies while the one before still drains: the requests go back to that one, and the
 * operation has failed after all.
 */

import type { Deployed } from '@runner/common/apps/deployed';
import { heldCommits } from '@runner/common/apps/hold';
import { liveSlot, otherSlot, type SlotName, type SlotState } from '@runner/common/apps/slots';
import type { AppState } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import { end } from '../approval/admit.ts';
import { drainAll } from '../instances/drain.ts';
import { fileOfRelease } from '../instances/kept-file.ts';
import { instancePaths, serve, stopSlot } from '../instances/slots.ts';
import { keptTarget } from '../instances/target.ts';
import { beginJournal, secretsBack } from '../journal/journal.ts';
import { type Deploy, type Operation, say, uninterrupted } from '../journal/operation.ts';
import { silent, startNotifier } from '../report/notifier.ts';
import { StepFailure } from '../run/step.ts';
import { conclude } from './conclude.ts';
import { deployFailed, rollbackFailed } from './endings.ts';
import { channelsOf } from './recover.ts';
import type { Undone } from './restore.ts';
import { undo } from './undo.ts';

/** Ends what drains, then waits for the chats: both without the app's lock. */
export async function endDrains(op: Operation): Promise<void> {
  await drainAll(op, goBack);
  const { notifier } = op;
  op.notifier = silent;
  for (const line of await notifier.finish()) op.reporter.note(line);
}

/** Called under the app's lock, while the version before still runs. */
async function goBack(op: Operation, name: string, how: string): Promise<boolean> {
  const app = requireApp(op.paths, op.app.app);
  const { current, previous = [], slots, draining } = app.instances[name] ?? {};
  const live = liveSlot(instancePaths(op, name));
  if (!current || !live) return false;
  const dead = slots?.[live];
  const held = slots?.[otherSlot(live)];
  if (!dead || !held) return false;
  const isRestart = held.release === current.release;
  const to = [draining?.from, ...previous].find((each) => each?.release === held.release);
  // What drains had failed itself.
  if (!isRestart && !to) return false;
  const words = `drain: ${current.version} of ${name} ${how} while it got the requests`;
  const error = new StepFailure('drain', words);
  say(op, `${words}; ${held.version} gets them again`);
  op.lost.set(name, error);
  secretsBack(op, name);
  end(op, false, error.message);
  // Not every command that ends a drain has messages of its own.
  if (op.notifier === silent)
    op.notifier = startNotifier(op.io, op.paths.root, channelsOf(op, op.journal));
  const now = uninterrupted({ ...op, app });
  if (to && !isRestart) {
    await recordLoss(now, { name, live, dead, current, to, error });
    return true;
  }
  // The record of the restart was still to be written.
  const target = keptTarget(now, name, held, otherSlot(live));
  if (target) await serve(now, target);
  await stopSlot(now, name, live);
  const loss = { name, live, dead, current, to: current, error };
  if (op.journal?.rollback) concludeLoss(lostDeploy(now, loss), loss, []);
  return true;
}

/** An instance that goes back: what it ran, and what it runs again. */
interface Loss {
  readonly name: string;
  readonly live: SlotName;
  readonly dead: SlotState;
  readonly current: Deployed;
  readonly to: Deployed;
  readonly error: StepFailure;
}

/** The journal and the state say where it goes back to, before it does: a kill is recovered from. */
async function recordLoss(op: Operation, loss: Loss): Promise<void> {
  const { name, live, current, error } = loss;
  const { commit, version } = current;
  const { head } = op.app;
  const at = op.io.now().toISOString();
  const lost = lostDeploy({ ...op, app: backOn(op.app, loss, at) }, loss);
  const { stage, blame, message } = error;
  const intent = {
    commit,
    version,
    instance: name,
    stage: 'rollback',
    touched: [name],
    failed: { stage, blame, error: message },
    ...(head !== undefined && { passed_over: head, partial: true }),
    ...(!isOfDeploy(loss) && { rollback: { [name]: current.release } }),
  };
  beginJournal(lost, intent, (now) => backOn(now, loss, at));
  const moves = lost.journal ? await undo(lost, lost.journal) : [];
  await stopSlot(lost, name, live);
  concludeLoss(lost, loss, moves);
}

function concludeLoss(lost: Deploy, loss: Loss, moves: readonly Undone[]): void {
  const { name, current, error } = loss;
  const file = fileOfRelease(lost.paths, lost.app.app, current);
  const facts = { error, moves, at: name, file, isInterrupted: false };
  conclude(lost, isOfDeploy(loss) ? deployFailed(lost, facts) : rollbackFailed(lost, facts));
}

function lostDeploy(op: Operation, { name, dead, current }: Loss): Deploy {
  const { commit, version, changes = { count: null, subjects: [], authors: [] } } = current;
  return {
    ...op,
    commit,
    version,
    changes,
    deployId: dead.deploy_id,
    instances: [name],
    skippedHead: op.app.head,
    partial: true,
    returns: false,
    isOperators: false,
    about: {},
  };
}

/** Otherwise a rollback had started it. */
const isOfDeploy = ({ dead, current }: Loss) => dead.deploy_id === current.deploy_id;

/**
 * The version that died is no longer one that a rollback could choose, unless a rollback chose it: then
 * what that left is no longer on hold.
 */
function backOn(app: AppState, loss: Loss, active_since: string): AppState {
  const { name, to, current } = loss;
  const { previous = [], ...rest } = app.instances[name] ?? {};
  const others = previous.filter(({ release }) => release !== to.release);
  const kept = isOfDeploy(loss) ? others : [current, ...others];
  const instance = { ...rest, current: to, previous: kept, active_since };
  const held = app.held && heldCommits(app.held).includes(to.commit) ? null : app.held;
  return { ...app, held, instances: { ...app.instances, [name]: instance } };
}
