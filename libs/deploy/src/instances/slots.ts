/** The slots of an instance: taking one, sending the requests to it, and leaving the other. */
import { closeSync, constants, openSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { changeApp } from '@runner/common/apps/change';
import { openBelowInstance, writeBelowInstance } from '@runner/common/apps/instance-folder';
import {
  asleepSince,
  liveLink,
  liveSlot,
  type SlotName,
  slotPaths,
  socketIn,
} from '@runner/common/apps/slots';
import type { InstanceState } from '@runner/common/apps/state';
import { findApp } from '@runner/common/apps/store';
import { completeEvent } from '@runner/common/audit/complete';
import { bootId } from '@runner/common/files/process';
import { makeFolder, removeIfThere } from '@runner/common/files/read';
import { type Folder, inFolder } from '@runner/common/files/tree';
import { removeEntry } from '@runner/common/files/tree-change';
import { failureIn } from '@runner/common/foundation/attempt';
import { recordAnyway } from '../journal/events.ts';
import { isByHand } from '../journal/journal.ts';
import type { Operation } from '../journal/operation.ts';
import { runStep, StepFailure, shellStep } from '../run/step.ts';
import { refuseDetour } from '../sandbox/mounts.ts';
import { grantSocket, openSocket } from './access.ts';
import { leadTo, linkTo, switchTo } from './current-link.ts';
import { driverFor } from './drivers/choose.ts';
import type { Target } from './drivers/driver.ts';
import { endInstance } from './drivers/process.ts';
import { portOf } from './place.ts';
import { portHolder, socketProblem } from './reach.ts';
import { hasShares, shareFolder, shareNothing } from './shares.ts';
import { keptTarget, releaseOf } from './target.ts';

const NEW: InstanceState = { current: null, previous: [] };
const EMPTY = { a: null, b: null };

type HeldSlot = NonNullable<InstanceState['slots']>[SlotName];

export function instanceState({ paths, app }: Pick<Operation, 'paths' | 'app'>, name: string) {
  return findApp(paths, app.app)?.instances[name] ?? NEW;
}

/** The folders of an instance of the app. */
export function instancePaths({ paths, app }: Pick<Operation, 'paths' | 'app'>, name: string) {
  return paths.app(app.app).instance(name);
}

/** What is in a slot, as its release describes it; undefined if nothing is, or that cannot be read. */
export function targetIn(op: Operation, name: string, slot: SlotName | undefined) {
  const held = slot && instanceState(op, name).slots?.[slot];
  return held ? keptTarget(op, name, held, slot) : undefined;
}

/** Whether a target is where the requests of its instance go: not in the other slot, and not asleep. */
export function isServed(op: Operation, { slot, instance }: Target): boolean {
  const own = instancePaths(op, instance.name);
  return slot === undefined || (slot === liveSlot(own) && !asleepSince(own));
}

type InstanceChange = (now: InstanceState) => InstanceState;

function changeInstance({ paths, io, app }: Operation, name: string, change: InstanceChange): void {
  changeApp({ io, paths, command: 'deploy', app: app.app }, (state) => ({
    ...state,
    instances: { ...state.instances, [name]: change(state.instances[name] ?? NEW) },
  }));
}

/** The same where a full disk must not end what is under way. */
function noteInstance(op: Operation, name: string, change: InstanceChange): void {
  const failure = failureIn(() => changeInstance(op, name, change));
  if (failure)
    op.log.line(`${failure.message}; the next command corrects the state (${failure.code})`);
}

/** Puts a release in its place: the link to it, and the files of a slot. Throws a StepFailure. */
export function put(op: Operation, target: Target): void {
  const { slot, paths, instance } = target;
  if (slot === undefined) {
    switchTo(paths, target.release);
    return;
  }
  const { traffic } = instance;
  const port = traffic && portOf(traffic, slot);
  const tooLong = socketProblem(instancePaths(op, instance.name), traffic, target.file);
  if (tooLong) throw new StepFailure('start', `start: ${tooLong}`, { blame: 'operator' });
  // With `overlap: false` it may still have the version before, which the start ends.
  const isEmpty = !instanceState(op, instance.name).slots?.[slot];
  if (port !== undefined && isEmpty) refuseBusyPort(instance.name, port);
  refuseDetour({ paths: op.paths, app: op.app.app }, paths.dir);
  makeFolder(paths.dir);
  for (const folder of [paths.dir, dirname(paths.dir), dirname(dirname(paths.dir))])
    letPass(folder);
  const { PORT = '', RUNNER_SLOT = '' } = target.env;
  inFolder(openBelowInstance(paths.dir), (folder) => {
    // An app may have left folders where files of ours belong: no later version could start.
    for (const name of [basename(socketIn(paths.dir)), 'env', 'current', '.current.tmp', `${port}`])
      if (folder.stat(name)?.isDirectory()) removeEntry(folder, name);
    folder.unlink(basename(socketIn(paths.dir)));
    grantSocket(op, target, folder);
    const env = `PORT=${PORT}\nRUNNER_SLOT=${RUNNER_SLOT}\n`;
    writeBelowInstance(join(paths.dir, 'env'), env, 0o644);
    if (port !== undefined) makeFlag(folder, String(port));
  });
  switchTo(paths, target.release);
  const held = {
    release: releaseOf(target),
    version: target.version,
    commit: target.commit,
    deploy_id: op.deployId,
    port: port ?? null,
    started_at: op.io.now().toISOString(),
    boot_id: bootId(),
  };
  // As with the journal: only a deploy goes no further without it.
  const change = op.journal && !isByHand(op.journal) ? changeInstance : noteInstance;
  change(op, instance.name, (now) => withSlot(now, slot, held));
}

/** Lets other users, such as a proxy's, through a folder; what it holds stays unlisted. */
export function letPass(path: string): void {
  inFolder(openBelowInstance(path), (folder) => {
    const { mode, uid } = folder.stats;
    if (uid === process.geteuid?.() && (mode & 0o001) === 0) folder.chmod((mode & 0o7777) | 0o001);
  });
}

/** The file by which a proxy sees the port of the live slot. The app may have put anything there. */
function makeFlag(folder: Folder, name: string): void {
  const { O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
  if (!folder.stat(name)?.isFile()) folder.unlink(name);
  // Without O_NONBLOCK a named pipe would be waited for.
  closeSync(openSync(folder.path(name), O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_WRONLY, 0o644));
}

function refuseBusyPort(name: string, port: number): void {
  const holder = portHolder(port);
  if (holder === undefined) return;
  const words = `${name}: port ${port} is taken by ${holder}, which is not of this slot`;
  throw new StepFailure('start', `start: ${words}`, { blame: 'server' });
}

/**
 * Sends the requests of an instance to a target that is healthy. What got them until now drains; what
 * ran without `traffic` keeps running. Throws a StepFailure of stage `traffic`.
 */
export async function serve(op: Operation, target: Target): Promise<void> {
  const { slot, instance } = target;
  const own = instancePaths(op, instance.name);
  const before = liveSlot(own);
  if (slot === undefined) {
    // It may still have run, so that nothing was put in its place.
    switchTo(own, target.release);
    if (before === undefined) return;
    noteInstance(op, instance.name, (now) => leaving(op, target, now, before));
    removeIfThere(liveLink(own));
    return;
  }
  openSocket(target);
  await movePort(op, target);
  if (before !== slot) noteInstance(op, instance.name, (now) => leaving(op, target, now, before));
  const held = instanceState(op, instance.name).slots?.[slot];
  // Something else has started it after a reboot.
  if (held && held.boot_id !== bootId())
    noteInstance(op, instance.name, (now) => withSlot(now, slot, { ...held, boot_id: bootId() }));
  // Also back from the waker.
  leadTo(own, slot);
  if (target.file.canary.length > 0 || hasShares(own)) {
    shareNothing(own);
    letPass(shareFolder(own));
  }
  linkTo(own.current, 'live/current');
  await driverFor(target.start).live?.(target);
}

/** The state once the requests have left `before`. */
function leaving(
  { io }: Operation,
  target: Target,
  now: InstanceState,
  before: SlotName | undefined,
): InstanceState {
  const { current, slots } = now;
  const since = io.now();
  const until = new Date(since.getTime() + (target.instance.traffic?.drain ?? 0));
  const left = before && slots?.[before];
  const times = { since: since.toISOString(), until: until.toISOString() };
  // A success may keep no record of it, and it is gone back to if the next one dies.
  const from = current && current.release === left?.release ? { from: current } : {};
  const draining = left ? { slot: before, ...times, ...from } : null;
  if (target.slot === undefined) {
    const { before_traffic: _, ...rest } = now;
    return { ...rest, draining };
  }
  const inSlot = [slots?.a, slots?.b].some((held) => held?.release === current?.release);
  const isFirst = before === undefined && current && !inSlot && !now.before_traffic;
  return { ...now, draining, ...(isFirst && { before_traffic: current }) };
}

/** Longest time for the command that moves requests, in milliseconds. */
const MOVE_TIMEOUT = 60_000;

/** Type `command`: status 0 means that new requests go to PORT. */
async function movePort({ log, signal }: Operation, target: Target): Promise<void> {
  const { run: command } = target.instance.traffic ?? {};
  if (command === undefined) return;
  const { release: cwd, env } = target;
  const confinement = target.confine('hook');
  const how = { cwd, env, timeout: MOVE_TIMEOUT, confinement };
  await runStep(log, signal, shellStep({ stage: 'traffic', command, ...how }));
}

/** A restart is done once the process before it is no longer needed. */
function recordRestart(op: Operation, name: string, slot: SlotName): void {
  const { draining } = instanceState(op, name);
  if (draining?.slot !== slot || !draining.restart) return;
  const { restart, ...rest } = draining;
  recordAnyway(op, [completeEvent(restart, op.io)]);
  noteInstance(op, name, (now) => ({ ...now, draining: rest }));
}

/** Stops what is in a slot, and forgets it. Throws a StepFailure. */
export async function stopSlot(op: Operation, name: string, slot: SlotName): Promise<void> {
  const { app } = op.app;
  recordRestart(op, name, slot);
  const paths = slotPaths(instancePaths(op, name), slot);
  const target = targetIn(op, name, slot);
  if (target) await driverFor(target.start).stop(target);
  else await endInstance({ app, instance: { name }, slot, paths });
  noteInstance(op, name, (now) => {
    const draining = now.draining?.slot === slot ? null : (now.draining ?? null);
    return { ...withSlot(now, slot, null), draining };
  });
}

function withSlot(now: InstanceState, slot: SlotName, held: HeldSlot): InstanceState {
  return { ...now, slots: { ...EMPTY, ...now.slots, [slot]: held } };
}

/** What ran before `traffic` has been stopped. */
export function forgetBeforeTraffic(op: Operation, name: string): void {
  changeInstance(op, name, ({ before_traffic: _, ...now }) => now);
}
