/**
 * The loop of `send` and `flush`: under the lock of a channel it sends the oldest message that may go, or
 * waits for it, until its caller has waited long enough.
 */
import type { Lock } from '@runner/common/files/lock';
import type { Channel, Message } from '../service/contract.ts';
import type { QueueEntry } from '../spool/entry.ts';
import type { EntryName } from '../spool/names.ts';
import { attempt, type EntryWork } from './attempt.ts';
import type { Clock } from './clock.ts';
import type { Destination } from './destination.ts';
import type { Next, Queue } from './queue.ts';
import type { EntryResult } from './result.ts';

/** Longest sleep, in milliseconds: messages may arrive meanwhile, and the clock may be changed. */
const SLICE = 200;
/** While another process holds the lock: milliseconds between two checks, and checks per attempt to lock. */
const LOOK = 150;
const LOOKS_PER_TRY = 4;

/** The queue of a channel, and the way to its destination. */
export interface Outlet {
  readonly queue: Queue;
  readonly channel: Channel;
  readonly clock: Clock;
  /** undefined while another process delivers. Throws when the lock cannot be taken. */
  lock(): Pick<Lock, 'release'> | undefined;
  /** Called under the lock, so that the state includes what other processes have saved. */
  open(): Destination;
  /** The messages of an entry, in order; empty when its event is invalid. */
  render(entry: QueueEntry): Promise<readonly Message[]>;
  /** Saves the new id of a destination that moved. */
  moved(id: string): void;
}

/** The command that waits for deliveries. */
export interface Caller {
  /** Ignores pauses after temporary problems, once for each message. */
  readonly eager?: boolean;
  /** Whether to send `next` or wait for it; undefined: the queue is empty; `busy`: another process delivers. */
  goesOn(next: Next | undefined | 'busy'): boolean;
  /** Gets each entry that leaves the queue. */
  onEnd(name: EntryName, delivery: EntryResult): void;
  /** Milliseconds for the next request; undefined: the channel's default. */
  within?(): number;
  /** Looks for what others took out of the queue; `locked`: no other process has delivered since the last look. */
  look?(locked: boolean): void;
}

/** Delivers until the caller has waited enough. */
export async function deliverQueue(outlet: Outlet, caller: Caller): Promise<void> {
  for (let looks = 0; ; looks += 1) {
    const lock = looks % LOOKS_PER_TRY === 0 ? outlet.lock() : undefined;
    caller.look?.(false);
    if (lock) return deliverLocked(outlet, caller).finally(() => lock.release());
    if (!caller.goesOn('busy')) return;
    await outlet.clock.sleep(LOOK);
  }
}

async function deliverLocked(outlet: Outlet, caller: Caller): Promise<void> {
  const { queue, clock } = outlet;
  const eager = caller.eager === true;
  const destination = outlet.open();
  let work: EntryWork | undefined;
  queue.begin();
  for (;;) {
    const next = queue.choose(destination.wait({ ignoreTrouble: eager }), eager);
    if (!caller.goesOn(next) || !next) break;
    if (next.wait > 0) {
      await clock.sleep(Math.min(Math.ceil(next.wait), SLICE));
      continue;
    }
    const entry = queue.read(next.name);
    if (entry === undefined || entry === 'damaged') {
      queue.forget(next.name);
      continue;
    }
    if (work?.name !== next.name)
      work = { name: next.name, messages: [...(await outlet.render(entry))] };
    const delivery = await attempt({ ...outlet, destination }, work, entry, caller.within?.());
    if (!delivery) continue;
    work = undefined;
    if (delivery.movedTo !== undefined) outlet.moved(delivery.movedTo);
    caller.onEnd(next.name, delivery);
  }
  caller.look?.(true);
}
