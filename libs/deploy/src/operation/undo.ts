/**
 * Undoing what the journal of an operation has: after a failure, and after its process died. Each
 * instance that was touched becomes again what the state says, which changes only at the end.
 */
import { isStopped } from '@runner/common/apps/operator';
import { liveSlot, SLOTS } from '@runner/common/apps/slots';
import { findApp } from '@runner/common/apps/store';
import { removeTree } from '@runner/common/files/tree-change';
import { undoRestore } from '../database/restore.ts';
import { placedRelease } from '../instances/current-link.ts';
import { finishRequests } from '../instances/drain.ts';
import { askNow } from '../instances/drivers/ask.ts';
import { driverFor } from '../instances/drivers/choose.ts';
import { fileOfRelease } from '../instances/kept-file.ts';
import { inTheWay } from '../instances/ports.ts';
import { hasShares, shareNothing } from '../instances/shares.ts';
import { instancePaths, instanceState, serve, stopSlot, targetIn } from '../instances/slots.ts';
import { instanceNames } from '../instances/stop.ts';
import { keptTarget } from '../instances/target.ts';
import { type Journal, type Operation, say, uninterrupted } from '../journal/operation.ts';
import { slotReleases, unfinishedReleases } from '../release/folder.ts';
import { takeBack } from '../release/shared.ts';
import { reported } from '../report/reporter.ts';
import { endDeploy } from '../run/processes.ts';
import { failureOf } from '../run/step.ts';
import { restored, type Touched, type Undone } from './restore.ts';

/** Undoes an operation, last change first. Never interrupted: Ctrl-C may have been what started it. */
export async function undo(op: Operation, journal: Journal): Promise<Undone[]> {
  const calm = uninterrupted(op);
  // Not with what builds left unfinished: it has their caches, and is made again for what comes.
  op.sandbox.close(removeTree);
  for (const folder of unfinishedReleases(op.paths.app(op.app.app))) {
    const problem = removeTree(folder);
    if (problem) op.reporter.note(problem);
  }
  const names = instanceNames(op);
  const touched = names.flatMap((name) => touchedOf(calm, journal, name) ?? []);
  for (const name of names) {
    const wasSent = journal.touched?.includes(name) && isWaiting(calm, name);
    if (wasSent) await sendBack(calm, name);
    await stopUnused(calm, name, wasSent);
  }
  const order = journal.touched ?? [];
  touched.sort((a, b) => order.indexOf(b.name) - order.indexOf(a.name));
  const isReplaced = journal.database !== undefined;
  const stopped = await makeWay(calm, touched, isReplaced);
  const lost = isReplaced ? await databaseBack(calm, journal, touched) : undefined;
  const moves: Undone[] = [];
  for (const each of touched) {
    const { name: instance, to, wasSwitched } = each;
    const running = stopped.includes(instance) ? undefined : each.running;
    const problem = lost ?? (await restored(calm, journal, { ...each, running }));
    moves.push({ instance, from: journal, to, problem, wasSwitched });
  }
  // What could not be stopped may still use them.
  if (moves.every(({ problem }) => problem === undefined)) takeBack(journal.seeds ?? []);
  endLeft(op);
  return moves;
}

/** undefined: it needs nothing. */
function touchedOf(op: Operation, journal: Journal, name: string): Touched | undefined {
  const { paths, app } = op;
  const to = app.instances[name]?.current ?? null;
  const placed = placedRelease(paths, app.app, name);
  const { version, commit, failed } = journal;
  // A version that fails to start again cannot be undone; what was stopped is stopped again.
  if (journal.verb) {
    const isToStop = to && journal.touched?.includes(name) && isStopped(op.app, name);
    return isToStop ? { name, to, running: undefined, wasSwitched: false } : undefined;
  }
  const isTouched = journal.touched?.includes(name) ?? false;
  // In its slot there is nothing of a version that an operator stopped.
  const isRight =
    placed === to?.release || (placed === undefined && !isTouched && isStopped(op.app, name));
  if (isRight && !isTouched) return undefined;
  // It was started beside what still gets the requests.
  if (isRight && isWaiting(op, name)) return undefined;
  // What was started again has opened the database that is replaced once more.
  const isReplaced = journal.database !== undefined;
  const running =
    placed === undefined || (isRight && !isReplaced)
      ? undefined
      : keptTarget(op, name, (isRight && to) || { release: placed, version, commit });
  const wasSwitched = !isRight || failed !== undefined;
  if (wasSwitched || isReplaced) return { name, to, running, wasSwitched };
  const target = to && keptTarget(op, name, to);
  const wanted = isStopped(op.app, name) ? 'stopped' : 'running';
  const isAsWanted = target && askNow(driverFor(target.start).status(target)) === wanted;
  return !to || isAsWanted ? undefined : { name, to, running, wasSwitched: false };
}

/** Whether a slot has what this operation started, and another one has got the requests all along. */
function isWaiting(op: Operation, name: string): boolean {
  const live = liveSlot(instancePaths(op, name));
  const { slots, draining } = instanceState(op, name);
  const others = SLOTS.filter((slot) => slot !== live && slot !== draining?.slot);
  return others.some((slot) => slots?.[slot]?.deploy_id === op.deployId);
}

/** A command that failed may have sent some requests to what was started. */
async function sendBack(op: Operation, name: string): Promise<void> {
  const target = targetIn(op, name, liveSlot(instancePaths(op, name)));
  const failure = target && (await failureOf('traffic', () => serve(op, target)));
  if (failure) op.log.line(failure.message);
}

/** Stops what was started in a slot and does not get the requests, once it has answered those that it got. */
export async function stopUnused(op: Operation, name: string, wasSent = false): Promise<void> {
  const { slots, draining } = instanceState(op, name);
  const own = instancePaths(op, name);
  const live = liveSlot(own);
  const wasTried = hasShares(own);
  if (wasTried) shareNothing(own);
  for (const slot of SLOTS) {
    if (slot === live || slot === draining?.slot || !slots?.[slot]) continue;
    const stop = async () => {
      if (wasTried || wasSent) await finishRequests(op, name, slot);
      await stopSlot(op, name, slot);
    };
    const step = `stop ${name} in slot ${slot}`;
    const failure = await failureOf('start', () => reported(op.reporter, step, stop));
    if (failure) say(op, failure.message);
  }
}

/** Stops instances that have a port which another one is to have again, or all. Returns those that are. */
async function makeWay(
  op: Operation,
  touched: readonly Touched[],
  isForAll: boolean,
): Promise<string[]> {
  const running = touched.flatMap((each) => each.running ?? []);
  const next = touched.flatMap(({ name, to }) => (to && keptTarget(op, name, to)) ?? []);
  const stopped: string[] = [];
  for (const target of isForAll ? running : inTheWay(running, next)) {
    // If it fails, its restoring tries again, and reports why.
    const failure = await failureOf('start', () => driverFor(target.start).stop(target));
    if (!failure) stopped.push(target.instance.name);
  }
  return stopped;
}

/** Restores what the database was before a rollback replaced it. Returns why that failed. */
async function databaseBack(
  op: Operation,
  journal: Journal,
  touched: readonly Touched[],
): Promise<string | undefined> {
  const targets = touched.flatMap(({ name, to }) => (to && keptTarget(op, name, to)) ?? []);
  if (targets.length === 0) return undefined;
  const failure = await failureOf('migrate', () => undoRestore(op, journal, targets));
  return failure && op.redact(failure.message);
}

/**
 * Ends what a failed release left running. Of `start.type: command` only what its build left: the
 * supervisor may have kept a process through the rollback.
 */
function endLeft({ paths, app, deployId }: Operation): void {
  const now = findApp(paths, app.app) ?? app;
  const active = Object.values(now.instances).flatMap(({ current }) => current?.release ?? []);
  const kept = new Set([...active, ...slotReleases(now)]);
  endDeploy(paths.app(app.app).dir, deployId, (release) => {
    if (release.startsWith('.tmp-')) return true;
    if (kept.has(release)) return false;
    const commit = release.slice(-12);
    return fileOfRelease(paths, app.app, { release, commit })?.start.type !== 'command';
  });
}
