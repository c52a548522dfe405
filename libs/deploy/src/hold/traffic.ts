/**
 * Holding the requests of an app: `live` leads to a folder with the socket of a process that lets them wait
 * or answers with a page. Its link `slot` names where they go afterwards, so a deploy may go on meanwhile.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { changeApp } from '@runner/common/apps/change';
import { writeBelowInstance } from '@runner/common/apps/instance-folder';
import { type TrafficHold, trafficHoldWords } from '@runner/common/apps/operator';
import {
  asleepSince,
  heldSlotLink,
  holdFolder,
  isHeld,
  liveLink,
  liveSlot,
  type SlotName,
  slotAfterHold,
  socketIn,
} from '@runner/common/apps/slots';
import type { AppState } from '@runner/common/apps/state';
import { findApp, requireApp } from '@runner/common/apps/store';
import { completeEvent } from '@runner/common/audit/complete';
import type { OperatorEvent } from '@runner/common/audit/events';
import { liveHolder, takeLock } from '@runner/common/files/lock';
import { makeFolder, removeIfThere } from '@runner/common/files/read';
import { Failure, systemCode } from '@runner/common/foundation/failure';
import type { InstancePaths, Paths, Server } from '@runner/common/foundation/paths';
import { initiatorOf } from '@runner/common/foundation/user';
import { linkTo } from '../instances/current-link.ts';
import { activeInstances } from '../instances/neighbours.ts';
import { accepts } from '../instances/reach.ts';
import { hasShares, shareNothing } from '../instances/shares.ts';
import { letPass } from '../instances/slots.ts';
import { recordAnyway } from '../journal/events.ts';
import { underLock } from '../journal/lock.ts';
import { startInBackground } from '../run/background.ts';

const TOOL = 'runner-hold-traffic';
/** Longest wait until the holder listens, in milliseconds. */
const PATIENCE = 10_000;

/** An app on a server. */
export interface HoldPlace extends Server {
  readonly app: string;
  note?(text: string): void;
}

/** What the command line asks for. */
interface HoldRequest extends HoldPlace {
  readonly until: Date;
  /** The answer to requests; without one they wait. */
  readonly page?: string | undefined;
}

export const pageIn = (own: InstancePaths) => join(holdFolder(own), 'page');

/**
 * Holds the requests of an app, or changes how and until when they are held. Throws `not_ready` if it has
 * no instance with `traffic: socket`, or its release is watched; `app_not_found`, `locked`.
 */
export async function holdTraffic(request: HoldRequest): Promise<TrafficHold> {
  const { io, paths, app, until, page } = request;
  return underLock(request, 'hold-traffic', async () => {
    const state = requireApp(paths, app);
    const instances = holdable(paths, state);
    for (const own of instances.map((name) => paths.app(app).instance(name))) {
      makeFolder(holdFolder(own));
      letPass(holdFolder(own));
      if (page !== undefined) writeBelowInstance(pageIn(own), page, 0o644);
    }
    const known = state.traffic_hold;
    const hold: TrafficHold = {
      since: known?.since ?? io.now().toISOString(),
      by: initiatorOf(io, 'manual'),
      until: until.toISOString(),
      instances,
      page: page !== undefined,
    };
    const changed = changeApp({ io, paths, command: 'hold-traffic', app }, (now) => ({
      ...now,
      traffic_hold: hold,
    }));
    if (!(await holderListens(request, hold))) {
      endHold(request, hold, 'its socket was not opened');
      throw new Failure('not_ready', `${TOOL} did not open its socket: no request is held`);
    }
    leadAside(paths, app, hold);
    record(request, 'TrafficHeld', changed, trafficHoldWords(hold));
    return hold;
  });
}

/** Instances whose requests can be held. */
function holdable(paths: Paths, state: AppState): string[] {
  const { app } = state;
  const refuse = (why: string) => new Failure('not_ready', `no request of ${app} is held: ${why}`);
  if (state.watch)
    throw refuse(`its release is being watched and would be judged by that; runner watch ${app}`);
  const names = activeInstances(paths, state).flatMap(({ instance: { name, traffic } }) => {
    const own = paths.app(app).instance(name);
    const isAwake = liveSlot(own) !== undefined && !asleepSince(own);
    return traffic?.type === 'socket' && isAwake ? [name] : [];
  });
  if (names.length === 0) throw refuse("no instance of it is active with 'traffic: socket'");
  return names;
}

async function holderListens(place: HoldPlace, hold: TrafficHold): Promise<boolean> {
  const { paths, app } = place;
  if (!liveHolder(paths.holdLock(app))) startInBackground(place, TOOL, [app, '--carry']);
  const sockets = hold.instances.map((name) => socketIn(holdFolder(paths.app(app).instance(name))));
  const until = performance.now() + PATIENCE;
  while (performance.now() < until) {
    const open = await Promise.all(sockets.map((socketPath) => accepts({ socketPath })));
    if (open.every(Boolean) && liveHolder(paths.holdLock(app))) return true;
    await sleep(50);
  }
  return false;
}

/** Leads the requests to the holder. Under the lock of the app. */
function leadAside(paths: Paths, app: string, { instances }: TrafficHold): void {
  for (const name of instances) {
    const own = paths.app(app).instance(name);
    const slot = liveSlot(own);
    if (slot === undefined || isHeld(own)) continue;
    linkTo(heldSlotLink(own), `../${slot}`);
    linkTo(join(holdFolder(own), 'current'), 'slot/current');
    linkTo(liveLink(own), 'hold');
    if (hasShares(own)) shareNothing(own);
  }
}

/** Lets the requests through again. Needs no lock: a deploy that switches meanwhile is followed. */
export function endHold(place: HoldPlace, hold: TrafficHold, reason: string): void {
  const { io, paths, app } = place;
  let held: AppState | undefined;
  try {
    // First: who leads requests aside looks at it again afterwards.
    changeApp({ io, paths, command: 'hold-traffic', app }, (now) => {
      if (now.traffic_hold?.since !== hold.since) return now;
      held = now;
      return { ...now, traffic_hold: null };
    });
  } finally {
    // Also on a full disk: no request waits longer than was asked for.
    leadAllBack(paths, app, hold.instances);
  }
  if (held) record(place, 'TrafficReleased', held, reason);
}

/** Leads requests that are no longer held to the app. */
function leadAllBack(paths: Paths, app: string, instances: readonly string[]): void {
  for (const name of instances) {
    const own = paths.app(app).instance(name);
    if (!isHeld(own)) continue;
    const slot = slotAfterHold(own);
    if (slot === undefined) removeIfThere(liveLink(own));
    else leadBack(own, slot);
    if (hasShares(own)) shareNothing(own);
  }
}

/** A deploy that switches the slot meanwhile has named the new one first. */
function leadBack(own: InstancePaths, slot: SlotName): void {
  try {
    linkTo(liveLink(own), slot);
  } catch (error) {
    // The command and the holder lead back at the same moment, and one of them has done it.
    if (systemCode(error) === undefined) throw error;
    if (isHeld(own)) linkTo(liveLink(own), slot);
  }
  const now = slotAfterHold(own);
  if (now !== undefined && now !== slot) leadBack(own, now);
}

/** The same for what must not fail for it. */
export async function keepHoldAnyway(place: HoldPlace): Promise<void> {
  await keepHold(place).catch((error: unknown) => {
    // Two processes may lead at the same moment.
    if (!(error instanceof Failure) && systemCode(error) === undefined) throw error;
  });
}

/** Ends the hold whose time is over, starts the holder again that died, and ends what a kill left of one. */
export async function keepHold(place: HoldPlace): Promise<void> {
  const { io, paths, app } = place;
  const { traffic_hold: hold, instances = {} } = findApp(paths, app) ?? {};
  const names = Object.keys(instances);
  if (!hold) leadAllBack(paths, app, names);
  else if (hold.until <= io.now().toISOString()) endHold(place, hold, 'its time was over');
  else await keepAside(place, hold);
}

async function keepAside(place: HoldPlace, hold: TrafficHold): Promise<void> {
  const { io, paths, app } = place;
  if (!liveHolder(paths.holdLock(app))) {
    const again = (await holderListens(place, hold)) ? 'is' : 'could not be';
    place.note?.(
      `the process that held the requests of ${app} has died, and ${again} started again`,
    );
  }
  const isAside = (name: string) => isHeld(paths.app(app).instance(name));
  if (hold.instances.every(isAside)) return;
  const lock = takeLock(paths.lock(app), 0, { pid: io.pid, command: 'hold-traffic' });
  if (!lock) return;
  try {
    leadAside(paths, app, hold);
  } finally {
    lock.release();
  }
  if (!findApp(paths, app)?.traffic_hold) leadAllBack(paths, app, hold.instances);
}

/** A record for each instance. */
function record(
  { io, paths, app, note = () => {} }: HoldPlace,
  event_type: OperatorEvent,
  { instances, traffic_hold: hold }: AppState,
  reason: string,
): void {
  const names = hold?.instances ?? [];
  const common = {
    event_type,
    timestamp: io.now().toISOString(),
    project: app,
    deploy_id: null,
    user: initiatorOf(io, 'manual'),
    reason,
    instances: names,
  };
  const events = names.map((instance) => {
    const { version = '', commit } = instances[instance]?.current ?? {};
    return completeEvent({ ...common, instance, version, ...(commit && { commit }) }, io);
  });
  recordAnyway({ paths, reporter: { note } }, events);
}
