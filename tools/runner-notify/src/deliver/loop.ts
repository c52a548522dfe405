/**
 * The loop of `send` and `flush`: under the lock of a channel it sends the oldest message that may go, or
 * waits for it, until its caller has waited long enough.
 */
import type { Lock } from '@runner/common/files/lock';
import type { Channel, Complaint, Message, SendOutcome } from '../service/contract.ts';
import { type QueueEntry, requestOf, spoolProblem } from '../spool/entry.ts';
import { type EntryName, idOf } from '../spool/names.ts';
import type { Clock } from './clock.ts';
import type { Destination, Posted } from './destination.ts';
import type { Next, Queue } from './queue.ts';
import type { EntryResult } from './result.ts';
import { laterEntry } from './retry.ts';

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
  let delivery: Delivery | undefined;
  queue.begin();
  for (;;) {
    const next = queue.choose(destination.wait(eager), eager);
    if (!caller.goesOn(next) || !next) break;
    if (next.wait > 0) {
      await clock.sleep(Math.min(Math.ceil(next.wait), SLICE));
      continue;
    }
    const { name } = next;
    const entry = queue.read(name);
    if (entry === undefined || entry === 'damaged') {
      queue.forget(name);
      continue;
    }
    if (delivery?.name !== name)
      delivery = new Delivery(outlet, destination, name, [...(await outlet.render(entry))]);
    const result = await delivery.attempt(entry, caller.within?.());
    if (!result) continue;
    delivery = undefined;
    if (result.movedTo !== undefined) outlet.moved(result.movedTo);
    caller.onEnd(name, result);
  }
  caller.look?.(true);
}

/** Of a message that was sent before, or has nothing to edit. */
const DELIVERED: SendOutcome = { class: 'delivered', rest: 0 };
const UNREADABLE = spoolProblem('event_invalid', 'the event cannot be read');

/** An entry on its way, with its messages in the forms that were not refused. */
class Delivery {
  readonly name: EntryName;
  readonly #outlet: Outlet;
  readonly #destination: Destination;
  readonly #messages: Message[];
  #degraded: Complaint | undefined;
  #movedTo: string | undefined;

  constructor(outlet: Outlet, destination: Destination, name: EntryName, messages: Message[]) {
    this.name = name;
    this.#outlet = outlet;
    this.#destination = destination;
    this.#messages = messages;
  }

  /** Sends the next message; returns the result if it was the last one or failed for good. */
  async attempt(found: QueueEntry, within: number | undefined): Promise<EntryResult | undefined> {
    const { queue, channel, clock } = this.#outlet;
    const { name } = this;
    const destination = this.#destination;
    if (this.#messages.length === 0) return this.#reject({ ...found, problem: UNREADABLE });
    const next = this.#messages[found.sent];
    if (!next) return this.#delivered(found);
    const message = { ...next, only: found.left ?? undefined };
    const request = requestOf(name, found);
    const edited = channel.edit && destination.messageId(...(message.step?.edits ?? []));
    if (destination.isDone(request) || (message.step?.onlyEdit && edited === undefined))
      return this.#settle({ ...found, attempting: null }, DELIVERED);
    const problem = destination.stopped();
    if (problem) return this.#reject({ ...found, problem });
    const now = new Date(clock.now()).toISOString();
    const entry: QueueEntry = {
      ...found,
      attempting: now,
      first_at: found.first_at ?? now,
      // Another process was killed before it got the answer to its request.
      maybe_duplicate: found.maybe_duplicate || found.attempting !== null,
    };
    queue.save(name, entry);
    destination.sending();
    const posted = await this.#post(message, edited, within);
    destination.answered(posted, request, message.step);
    return this.#settle({ ...entry, attempting: null }, posted.outcome);
  }

  /** Makes a second request if the message to edit no longer exists. */
  async #post(
    message: Message,
    edited: string | undefined,
    within: number | undefined,
  ): Promise<Posted> {
    const { channel } = this.#outlet;
    if (edited !== undefined && channel.edit) {
      const outcome = await channel.edit(edited, message, within);
      const isMissing =
        outcome.class === 'rejected' && (outcome.missing || outcome.movedTo !== undefined);
      if (!isMissing) return { outcome, id: edited };
      if (message.step?.onlyEdit) return { outcome: DELIVERED };
    }
    const answered = this.#destination.messageId(message.step?.repliesTo);
    const outcome = await channel.send(message, within, answered);
    const body = outcome.class === 'delivered' ? outcome.accepted?.body : undefined;
    return { outcome, id: body && channel.idOf?.(body) };
  }

  /** Saves an entry after its request; returns its result when it leaves the queue. */
  #settle(entry: QueueEntry, outcome: SendOutcome): EntryResult | undefined {
    const { queue, clock } = this.#outlet;
    if (outcome.class === 'delivered') {
      this.#movedTo ??= outcome.movedTo;
      const next = { sent: entry.sent + 1, left: null, attempts: 0, next_at: null, problem: null };
      if (next.sent >= this.#messages.length) return this.#delivered({ ...entry, ...next });
      queue.save(this.name, { ...entry, ...next });
      return undefined;
    }
    const before = this.#messages[entry.sent];
    const complaint = outcome.class === 'rejected' ? outcome.complaint : undefined;
    const other = complaint && before?.instead(complaint);
    if (other) {
      this.#messages[entry.sent] = { ...other, step: before?.step };
      this.#degraded = complaint;
      queue.save(this.name, entry);
      return undefined;
    }
    const isPassing = outcome.class === 'wait' || outcome.class === 'retry';
    const later = isPassing ? laterEntry(entry, outcome, clock) : undefined;
    if (later) {
      if (outcome.class === 'retry') queue.tried(this.name);
      queue.save(this.name, later);
      return undefined;
    }
    const { problem } = outcome;
    const left = ('left' in outcome ? outcome.left : entry.left) ?? null;
    return this.#reject({ ...entry, attempts: entry.attempts + 1, left, problem });
  }

  #delivered(entry: QueueEntry): EntryResult {
    this.#outlet.queue.remove(this.name);
    const sent = this.#messages.length;
    const forms = { degraded: this.#degraded, movedTo: this.#movedTo };
    return { result: 'delivered', entry: { ...entry, sent }, ...forms };
  }

  #reject(entry: QueueEntry): EntryResult {
    this.#outlet.queue.bury(this.name, entry);
    const forms = { degraded: this.#degraded, movedTo: this.#movedTo };
    return { result: 'rejected', entry, id: idOf(this.name), ...forms };
  }
}
