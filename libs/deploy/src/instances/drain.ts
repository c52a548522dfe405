/** Draining: a version that no longer gets requests runs until it has answered those it has. */
import { setTimeout as sleep } from 'node:timers/promises';
import { liveSlot, type SlotName } from '@runner/common/apps/slots';
import { findApp } from '@runner/common/apps/store';
import { takeLock } from '@runner/common/files/lock';
import { type Reporter, reported } from '../report/reporter.ts';
import { connectionsTo } from '../run/connections.ts';
import { failureOf } from '../run/step.ts';
import { instanceState, stopSlot } from './slots.ts';
import { keptTarget, type TargetBase } from './target.ts';

/** Between two looks at the connections, in milliseconds. */
const POLL = 200;
/** Looks without a connection, in a row, after which a version is idle. */
const IDLE = 2;

/** A slot that drains, and how long it still may, in milliseconds. */
interface Drain {
  readonly instance: string;
  readonly slot: SlotName;
  readonly since: string;
  readonly limit: number;
}

/** The slots of an app that drain. What is live does not, whatever the state says. */
function drainsOf(base: TargetBase, names: readonly string[]): Drain[] {
  return names.flatMap((instance) => {
    const { draining } = instanceState(base, instance);
    const live = liveSlot(base.paths.app(base.app).instance(instance));
    if (!draining || draining.slot === live) return [];
    const { slot, since, until } = draining;
    return [{ instance, slot, since, limit: Date.parse(until) - Date.parse(since) }];
  });
}

/** Finishes the drains of an app, as the last thing that an operation does. */
export async function drainAll(base: TargetBase, reporter: Reporter): Promise<void> {
  const names = Object.keys(findApp(base.paths, base.app)?.instances ?? {});
  const drains = drainsOf(base, names);
  if (drains.length === 0) return;
  const where = drains.map(({ instance, slot }) => `${instance} in slot ${slot}`).join(', ');
  const finished = () =>
    Promise.all(drainsOf(base, names).map((drain) => finishDrain(base, drain)));
  await reported(reporter, `drain ${where}`, finished);
  if (drainsOf(base, names).length > 0)
    base.say('the previous version is still draining; the next command for the app stops it');
}

/**
 * Waits without the app's lock, so that a rollback can bring a draining version back at once; takes it
 * to stop a version. Ends when it is stopped, or another command has taken over.
 */
async function finishDrain(base: TargetBase, drain: Drain): Promise<void> {
  const isDue = () =>
    drainsOf(base, [drain.instance]).some(
      ({ slot, since }) => slot === drain.slot && since === drain.since,
    );
  const open = await idle(base, drain, isDue);
  const { io } = base;
  const holder = { pid: io.pid, command: 'drain', since: io.now().toISOString() };
  while (isDue() && !base.signal.aborted) {
    const lock = takeLock(base.paths.lock(base.app), 0, holder);
    if (!lock) {
      await sleep(POLL);
      continue;
    }
    try {
      if (isDue()) await stopDrained(base, drain, open);
      return;
    } finally {
      lock.release();
    }
  }
}

/** Empties a slot that is to be used: waits for its drain, then stops what is in it. */
export async function vacate(base: TargetBase, name: string, slot: SlotName): Promise<void> {
  if (!instanceState(base, name).slots?.[slot]) return;
  const [drain] = drainsOf(base, [name]);
  if (drain?.slot !== slot) {
    await stopSlot(base, name, slot);
    return;
  }
  await stopDrained(base, drain, await idle(base, drain, () => true));
}

/** Waits for a version to be idle, at most its limit. Returns the connections that are left. */
async function idle(base: TargetBase, drain: Drain, isDue: () => boolean): Promise<number> {
  const { instance, slot, limit } = drain;
  const held = instanceState(base, instance).slots?.[slot];
  const target = held ? keptTarget(base, instance, held, slot) : undefined;
  const address = target?.env.PORT;
  const until = performance.now() + limit;
  let open = 0;
  for (let quiet = 0; quiet < IDLE && address !== undefined; ) {
    open = connectionsTo(address);
    quiet = open === 0 ? quiet + 1 : 0;
    if (performance.now() >= until || base.signal.aborted || !isDue()) return open;
    await sleep(POLL);
  }
  return open;
}

async function stopDrained(base: TargetBase, drain: Drain, open: number): Promise<void> {
  const { instance, slot, limit } = drain;
  if (open > 0) base.say(cutWords(open, limit));
  const failure = await failureOf('drain', () => stopSlot(base, instance, slot));
  if (failure) base.say(`${instance}: slot ${slot} could not be stopped: ${failure.message}`);
}

function cutWords(open: number, limit: number): string {
  const [what, were] = open === 1 ? ['connection', 'was'] : ['connections', 'were'];
  const after = `${were} open after ${limit / 1000}s and ${were} closed`;
  return `drain: ${open} ${what} ${after} (WebSockets or streams)`;
}
