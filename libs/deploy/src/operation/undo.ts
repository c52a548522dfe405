/**
 * Undoing what the journal of an operation has: after a failure, and after its process died. Each
 * instance that was touched becomes again what the state says, which changes only at the end.
 */
import { liveLink, liveSlot, otherSlot, SLOTS } from '@runner/common/apps/slots';
import type { Deployed } from '@runner/common/apps/state';
import { findApp } from '@runner/common/apps/store';
import { isThere, namesIn } from '@runner/common/files/read';
import { removeTree } from '@runner/common/files/tree-change';
import { linkTo, placedRelease, switchOff, switchTo } from '../instances/current-link.ts';
import { askNow } from '../instances/drivers/ask.ts';
import { driverFor } from '../instances/drivers/choose.ts';
import type { Target } from '../instances/drivers/driver.ts';
import { endInstance } from '../instances/drivers/process.ts';
import { fileOfRelease } from '../instances/kept-file.ts';
import { inTheWay } from '../instances/ports.ts';
import { instanceState, serve, stopSlot } from '../instances/slots.ts';
import { activationOf, isRunning, stopUnlessBeside } from '../instances/steps.ts';
import { stopAllOf } from '../instances/stop.ts';
import { keptTarget } from '../instances/target.ts';
import {
  type Journal,
  type Move,
  type Operation,
  say,
  uninterrupted,
} from '../journal/operation.ts';
import { runOrThrow } from '../journal/step.ts';
import { slotReleases, unfinishedReleases } from '../release/folder.ts';
import { takeBack } from '../release/shared.ts';
import { reported } from '../report/reporter.ts';
import { endDeploy } from '../run/processes.ts';
import { failureOf, StepFailure } from '../run/step.ts';

/** An instance that became again what it was, or could not. */
export interface Undone extends Move {
  /** false: it had only been stopped, which is no rollback. */
  readonly wasSwitched: boolean;
}

/** An instance that was changed, and what it is to be again. */
interface Touched extends Pick<Undone, 'wasSwitched'> {
  readonly name: string;
  /** null: nothing; its first deploy failed. */
  readonly to: Deployed | null;
  /** What may run instead; undefined if that is what it was. */
  readonly running: Target | undefined;
}

/** Undoes an operation, last change first. Never interrupted: Ctrl-C may have been what started it. */
export async function undo(op: Operation, journal: Journal): Promise<Undone[]> {
  const calm = uninterrupted(op);
  for (const folder of unfinishedReleases(op.paths.app(op.app.app))) {
    const problem = removeTree(folder);
    if (problem) op.reporter.note(problem);
  }
  const names = namesOf(op);
  const touched = names.flatMap((name) => touchedOf(calm, journal, name) ?? []);
  for (const name of names) {
    if (journal.touched?.includes(name) && isWaiting(calm, name)) await sendBack(calm, name);
    await stopUnused(calm, name);
  }
  const order = journal.touched ?? [];
  touched.sort((a, b) => order.indexOf(b.name) - order.indexOf(a.name));
  const stopped = await makeWay(calm, touched);
  const moves: Undone[] = [];
  for (const each of touched) {
    const { name: instance, to, wasSwitched } = each;
    const running = stopped.includes(instance) ? undefined : each.running;
    const problem = await restored(calm, journal, { ...each, running });
    moves.push({ instance, from: journal, to, problem, wasSwitched });
  }
  // What could not be stopped may still use them.
  if (moves.every(({ problem }) => problem === undefined)) takeBack(journal.seeds ?? []);
  endLeft(op);
  return moves;
}

/** Also of instances that a first deploy made, which are not in the state yet. */
function namesOf({ paths, app }: Operation): string[] {
  return [...new Set([...Object.keys(app.instances), ...namesIn(paths.app(app.app).instances)])];
}

/** undefined: it needs nothing. */
function touchedOf(op: Operation, journal: Journal, name: string): Touched | undefined {
  const { paths, app } = op;
  const to = app.instances[name]?.current ?? null;
  const placed = placedRelease(paths, app.app, name);
  const { version, commit, failed } = journal;
  // A version that fails to start again cannot be undone; what was stopped is stopped again.
  if (journal.verb) {
    const isToStop = to && journal.touched?.includes(name) && isStopped(op, name);
    return isToStop ? { name, to, running: undefined, wasSwitched: false } : undefined;
  }
  const isRight = placed === to?.release;
  if (isRight && !journal.touched?.includes(name)) return undefined;
  // It was started beside what still gets the requests.
  if (isRight && isWaiting(op, name)) return undefined;
  const running =
    isRight || placed === undefined
      ? undefined
      : keptTarget(op, name, { release: placed, version, commit });
  if (!isRight || failed) return { name, to, running, wasSwitched: true };
  const target = to && keptTarget(op, name, to);
  const wanted = isStopped(op, name) ? 'stopped' : 'running';
  const isAsWanted = target && askNow(driverFor(target.start).status(target)) === wanted;
  return !to || isAsWanted ? undefined : { name, to, running, wasSwitched: false };
}

/** Whether an operator had stopped it. */
function isStopped({ app }: Operation, name: string): boolean {
  return app.stopped?.instances.includes(name) ?? false;
}

/** Whether a slot has what this operation started, and another one has got the requests all along. */
function isWaiting(op: Operation, name: string): boolean {
  const live = liveSlot(op.paths.app(op.app.app).instance(name));
  const { slots, draining } = instanceState(op, name);
  const others = SLOTS.filter((slot) => slot !== live && slot !== draining?.slot);
  return others.some((slot) => slots?.[slot]?.deploy_id === op.deployId);
}

/** A command that failed may have sent some requests to what was started. */
async function sendBack(op: Operation, name: string): Promise<void> {
  const live = liveSlot(op.paths.app(op.app.app).instance(name));
  const held = live && instanceState(op, name).slots?.[live];
  const target = held && keptTarget(op, name, held, live);
  const failure = target && (await failureOf('traffic', () => serve(op, target)));
  if (failure) op.log.line(failure.message);
}

/** Stops what was started in a slot and never got a request. */
export async function stopUnused(op: Operation, name: string): Promise<void> {
  const { slots, draining } = instanceState(op, name);
  const live = liveSlot(op.paths.app(op.app.app).instance(name));
  for (const slot of SLOTS) {
    if (slot === live || slot === draining?.slot || !slots?.[slot]) continue;
    const stop = () => stopSlot(op, name, slot);
    const step = `stop ${name} in slot ${slot}`;
    const failure = await failureOf('start', () => reported(op.reporter, step, stop));
    if (failure) say(op, failure.message);
  }
}

/** Stops instances that have a port which another one is to have again. Returns those that are. */
async function makeWay(op: Operation, touched: readonly Touched[]): Promise<string[]> {
  const running = touched.flatMap((each) => each.running ?? []);
  const next = touched.flatMap(({ name, to }) => (to && keptTarget(op, name, to)) ?? []);
  const stopped: string[] = [];
  for (const target of inTheWay(running, next)) {
    // If it fails, its restoring tries again, and reports why.
    const failure = await failureOf('start', () => driverFor(target.start).stop(target));
    if (!failure) stopped.push(target.instance.name);
  }
  return stopped;
}

/** Restores one instance. Returns why that failed. */
async function restored(
  op: Operation,
  journal: Journal,
  touched: Touched,
): Promise<string | undefined> {
  const step = wordsOf(journal, touched);
  const failure = await failureOf('start', () =>
    reported(op.reporter, step, () => restore(op, touched)),
  );
  return failure && op.redact(failure.message);
}

function wordsOf({ verb, rollback }: Journal, { name, to }: Touched): string {
  if (!to) return `stop ${name}: no earlier version`;
  if (verb) return `stop ${name} again`;
  return `${rollback ? 'return' : 'roll back'} ${name} to ${to.version}`;
}

async function restore(op: Operation, { name, to, running }: Touched): Promise<void> {
  const { app } = op.app;
  const own = op.paths.app(app).instance(name);
  const isGone = to !== null && !isThere(op.paths.app(app).release(to.release));
  const target = to && !isGone ? keptTarget(op, name, to) : undefined;
  if (target && isStopped(op, name)) return stopAgain(op, target, running);
  if (running) await stopUnlessBeside(op, running, target);
  else if (!to) await endInstance({ app, instance: { name }, slot: undefined, paths: own });
  if (!to) return switchOff(own);
  if (!target) {
    if (running) switchOff(own);
    const why = isGone ? 'its release is gone' : 'its .deploy.yml cannot be read';
    throw new StepFailure('rollback', `${to.version} cannot be restored: ${why}`, {
      blame: 'server',
    });
  }
  const live = liveSlot(own);
  const isServed = target.slot !== undefined && target.slot === live && isRunning(op, target);
  // It never stopped; a command may have sent some of its requests elsewhere.
  if (isServed) await serve(op, target);
  else await runOrThrow(op, activationOf(op, target));
  await endStray(op, target, running);
}

/** Its links lead again to what it was, even if what runs cannot be stopped, and nothing is started. */
async function stopAgain(
  op: Operation,
  target: Target,
  running: Target | undefined,
): Promise<void> {
  const { name } = target.instance;
  const own = op.paths.app(op.app.app).instance(name);
  if (target.slot === undefined) switchTo(own, target.release);
  else if (running?.slot) linkTo(liveLink(own), otherSlot(running.slot));
  if (running) await stopUnlessBeside(op, running, undefined);
  await stopAllOf(op, name, target);
}

/** What runs without slots has no place beside an instance with slots, but from before it had any. */
async function endStray(op: Operation, target: Target, running: Target | undefined): Promise<void> {
  if (!running || running.slot !== undefined || target.slot === undefined) return;
  const { name } = target.instance;
  const { before_traffic: before } = instanceState(op, name);
  const known = before && keptTarget(op, name, before);
  await driverFor(running.start).stop(running);
  // The failed version had taken its place.
  if (known) await driverFor(known.start).start(known);
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
