/** Draining: a version that no longer gets requests runs until it has answered those it has. */
import { setTimeout as sleep } from 'node:timers/promises';
import { liveSlot, type SlotName } from '@runner/common/apps/slots';
import type { AppState } from '@runner/common/apps/state';
import { findApp } from '@runner/common/apps/store';
import { takeLock } from '@runner/common/files/lock';
import { ENDING } from '../journal/lock.ts';
import { type Operation, say } from '../journal/operation.ts';
import { reported } from '../report/reporter.ts';
import { connectionsTo } from '../run/connections.ts';
import { failureOf } from '../run/step.ts';
import { askNow } from './drivers/ask.ts';
import { driverFor } from './drivers/choose.ts';
import { isOpen } from './reach.ts';
import { instancePaths, instanceState, stopSlot, targetIn } from './slots.ts';

/** Between two looks at the connections, in milliseconds. */
const POLL = 200;
/** Looks without a connection, in a row, after which a version is idle. */
const IDLE = 2;
/** Looks in a row at which the version that is live does not listen, after which it is given up. */
const DEAF = 5;

/** Called under the app's lock if what is live has died while another version still drains; false: it just ends. */
export type OnDeath = (op: Operation, instance: string, how: string) => Promise<boolean>;

/** A slot that drains, and how long it still may, in milliseconds. */
interface Drain {
  readonly instance: string;
  readonly slot: SlotName;
  readonly since: string;
  readonly limit: number;
}

/**
 * The slots of an app that drain. What is live does not, whatever the state says. As long as a release is
 * watched, the version before is kept running: the way back is then a change of links.
 */
function drainsOf(op: Operation, names: readonly string[]): Drain[] {
  if (isKeptWarm(findApp(op.paths, op.app.app))) return [];
  return names.flatMap((instance) => {
    const { draining } = instanceState(op, instance);
    const live = liveSlot(instancePaths(op, instance));
    if (!draining || draining.slot === live) return [];
    const { slot, since, until } = draining;
    return [{ instance, slot, since, limit: Date.parse(until) - Date.parse(since) }];
  });
}

/** Whether the version before the live one is kept running. */
export function isKeptWarm(app: AppState | undefined): boolean {
  return Boolean(app?.watch && !app.watch.cold);
}

/** The state once what was kept warm drains: its time begins now. */
export function withDrains(app: AppState, now: Date): AppState {
  const instances = Object.entries(app.instances).map(([name, instance]) => {
    const { draining } = instance;
    if (!draining) return [name, instance] as const;
    const limit = Date.parse(draining.until) - Date.parse(draining.since);
    const until = new Date(now.getTime() + limit).toISOString();
    return [name, { ...instance, draining: { ...draining, since: now.toISOString(), until } }];
  });
  return { ...app, instances: Object.fromEntries(instances) };
}

/** Finishes the drains of an app, as the last thing that an operation does. */
export async function drainAll(op: Operation, onDeath: OnDeath): Promise<void> {
  const names = Object.keys(findApp(op.paths, op.app.app)?.instances ?? {});
  const drains = drainsOf(op, names);
  if (drains.length === 0) return;
  const where = drains.map(({ instance, slot }) => `${instance} in slot ${slot}`).join(', ');
  const finished = () =>
    Promise.all(drainsOf(op, names).map((drain) => finishDrain(op, drain, onDeath)));
  await reported(op.reporter, `drain ${where}`, finished);
  const isLeft = ({ instance, since }: Drain) =>
    drains.some((drain) => drain.instance === instance && drain.since === since);
  if (drainsOf(op, names).some(isLeft))
    say(op, 'the previous version is still draining; the next command for the app stops it');
}

/**
 * Waits without the app's lock, so that a rollback can bring a draining version back at once; takes it
 * to stop a version. Ends when it is stopped, or another command has taken over.
 */
async function finishDrain(op: Operation, drain: Drain, onDeath: OnDeath): Promise<void> {
  const isDue = () =>
    drainsOf(op, [drain.instance]).some(
      ({ slot, since }) => slot === drain.slot && since === drain.since,
    );
  const look = watchLive(op, drain.instance);
  let seen = await look();
  const goesOn = async () => {
    seen = await look();
    return seen.death === undefined && isDue();
  };
  const open = await idle(op, drain, goesOn);
  // What does not listen at the end may be dead, and the version before still serve.
  while (seen.isDeaf && !seen.death && isDue() && !op.signal.aborted) {
    await sleep(POLL);
    seen = await look();
  }
  const { death } = seen;
  const { io } = op;
  const holder = { pid: io.pid, command: 'drain', since: io.now().toISOString(), ...ENDING };
  while (isDue() && !op.signal.aborted) {
    using lock = takeLock(op.paths.lock(op.app.app), 0, holder);
    if (!lock) {
      await sleep(POLL);
      continue;
    }
    if (!isDue()) return;
    const isBack = death !== undefined && (await onDeath(op, drain.instance, death));
    if (!isBack) await stopDrained(op, drain, open);
    return;
  }
}

/** Empties a slot that is to be used: waits for its drain, then stops what is in it. */
export async function vacate(op: Operation, name: string, slot: SlotName): Promise<void> {
  if (!instanceState(op, name).slots?.[slot]) return;
  const [drain] = drainsOf(op, [name]);
  if (drain?.slot !== slot) {
    await stopSlot(op, name, slot);
    return;
  }
  await stopDrained(op, drain, await idle(op, drain, async () => true));
}

/** Waits until a slot that gets no more requests has answered those it has, at most the time of a drain. */
export async function finishRequests(op: Operation, name: string, slot: SlotName): Promise<void> {
  const limit = targetIn(op, name, slot)?.instance.traffic?.drain ?? 0;
  await idle(op, { instance: name, slot, since: '', limit }, async () => true);
}

/** Waits for a version to be idle, at most its limit. Returns the connections that are left. */
async function idle(op: Operation, drain: Drain, goesOn: () => Promise<boolean>): Promise<number> {
  const { instance, slot, limit } = drain;
  const address = targetIn(op, instance, slot)?.env.PORT;
  const until = performance.now() + limit;
  let open = 0;
  for (let quiet = 0; quiet < IDLE && address !== undefined; ) {
    open = connectionsTo(address);
    quiet = open === 0 ? quiet + 1 : 0;
    if (performance.now() >= until || op.signal.aborted || !(await goesOn())) return open;
    await sleep(POLL);
  }
  return open;
}

/** Each call is one look at what gets the requests of an instance, `death` how it died, in words. */
export function watchLive(op: Operation, name: string) {
  const target = targetIn(op, name, liveSlot(instancePaths(op, name)));
  let deaf = 0;
  return async () => {
    deaf = !target || (await isOpen(target.env.PORT)) ? 0 : deaf + 1;
    if (!target || deaf < DEAF) return { isDeaf: deaf > 0 };
    const hasEnded = askNow(driverFor(target.start).status(target)) === 'stopped';
    const death = hasEnded ? 'ended' : `stopped listening on ${target.env.PORT}`;
    return { isDeaf: true, death };
  };
}

async function stopDrained(op: Operation, drain: Drain, open: number): Promise<void> {
  const { instance, slot, limit } = drain;
  const [what, were] = open === 1 ? ['connection', 'was'] : ['connections', 'were'];
  const after = `${were} open after ${limit / 1000}s and ${were} closed (WebSockets or streams)`;
  if (open > 0) say(op, `drain: ${open} ${what} ${after}`);
  const failure = await failureOf('drain', () => stopSlot(op, instance, slot));
  if (failure) say(op, `${instance}: slot ${slot} could not be stopped: ${failure.message}`);
}
