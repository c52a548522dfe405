/** The records that `send` has queued for one channel: what it waits for, each until its deadline. */
import type { DestinationName } from '@runner/common/config/channels';
import { Failure } from '@runner/common/foundation/failure';
import { EXCHANGE_MIN, EXCHANGE_TIMEOUT } from '../service/exchange.ts';
import { type QueueEntry, spoolProblem } from '../spool/entry.ts';
import { type EntryName, entryName, idOf, timeOfName } from '../spool/names.ts';
import type { OpenChannels } from './channels.ts';
import { type Caller, deliverQueue, type Outlet } from './loop.ts';
import type { Next } from './queue.ts';
import type { EntryResult } from './result.ts';

/** How many of the oldest entries are read at each check; the others wait behind them. */
const READ_PER_LOOK = 8;

/** `queue drop` removed the entry. */
const DROPPED = spoolProblem('dropped', 'it was dropped from the queue');

/** An entry of this process. */
interface Own {
  /** As last seen. */
  entry: QueueEntry;
  /** In terms of `clock.elapsed`. */
  readonly deadline: number;
  resolve(delivery: EntryResult): void;
  reject(error: unknown): void;
}

/** Queues records, and runs the loop until they are delivered or their time is over. */
export class Sender implements Caller {
  readonly #opened: OpenChannels;
  readonly #name: DestinationName;
  readonly #outlet: Outlet;
  readonly #own = new Map<EntryName, Own>();
  /** Entries that were tried although there is no time to wait. */
  readonly #tried = new Set<EntryName>();
  #lastTime = 0;
  #running = false;
  /** In the last run the destination accepted no messages until this time. */
  #blocked: { readonly next: Next; readonly until: number } | undefined;

  constructor(opened: OpenChannels, name: DestinationName) {
    this.#opened = opened;
    this.#name = name;
    this.#outlet = opened.outletOf(name);
  }

  /**
   * Queues an entry before it returns, and waits up to `wait` ms for its delivery. An entry that cannot be
   * queued (`failure`) is sent from memory.
   */
  deliver(
    entry: QueueEntry,
    wait: number,
  ): { readonly failure: Failure | undefined; readonly delivery: Promise<EntryResult> } {
    const name = this.#nextName();
    const failure = this.#outlet.queue.add(name, entry);
    const now = this.#outlet.clock.elapsed();
    const deadline = now + wait;
    const delivery = new Promise<EntryResult>((resolve, reject) => {
      this.#own.set(name, { entry, deadline, resolve, reject });
    });
    const blocked = this.#blocked;
    // Locking for each entry of a long input would be too slow.
    if (!failure && blocked && deadline < blocked.until)
      this.#leave(name, { ...blocked.next, wait: blocked.until - now });
    else void this.#run();
    return { failure, delivery };
  }

  #nextName(): EntryName {
    const { clock } = this.#outlet;
    const name = this.#name;
    // Names sort by arrival even if the clock is set back.
    if (this.#lastTime === 0) this.#lastTime = timeOfName(this.#opened.spool.names(name).at(-1));
    this.#lastTime = Math.max(clock.now(), this.#lastTime + 1);
    return entryName(this.#lastTime, clock.random(), name);
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    try {
      // Entries may be added until the moment at which the last run ends.
      while (this.#own.size > 0) await deliverQueue(this.#outlet, this);
    } catch (error) {
      if (error instanceof Failure) {
        // E.g. the lock cannot be taken: entries on disk stay there.
        if (this.#own.size === 0) this.#opened.options.note(`${this.#name}: ${error.message}`);
        this.#leaveAll(undefined, error);
      } else {
        for (const { reject } of this.#own.values()) reject(error);
        this.#own.clear();
      }
    } finally {
      this.#running = false;
    }
  }

  onEnd(name: EntryName, delivery: EntryResult): void {
    this.#own.get(name)?.resolve(delivery);
    this.#own.delete(name);
  }

  within(): number {
    const left = Math.ceil((this.#lastDeadline() - this.#outlet.clock.elapsed()) / 1000) * 1000;
    return Math.min(Math.max(left, EXCHANGE_MIN), EXCHANGE_TIMEOUT);
  }

  goesOn(next: Next | undefined | 'busy'): boolean {
    if (next === 'busy') {
      this.#leaveExpired();
      return this.#own.size > 0;
    }
    const now = this.#outlet.clock.elapsed();
    const blocks = next !== undefined && next.wait > 0 && next.why !== 'backoff';
    this.#blocked = blocks ? { next, until: now + next.wait } : undefined;
    if (next && next.wait > 0) this.#leaveExpired(next);
    if (!next || this.#own.size === 0) return false;
    if (now + next.wait <= this.#lastDeadline()) return true;
    // Without time to wait, each entry, and those before it, is tried once if it can be sent now.
    const untried = [...this.#own.keys()].some((name) => !this.#tried.has(name));
    const first = next.wait === 0 && untried && !this.#tried.has(next.name);
    this.#tried.add(next.name);
    if (!first) this.#leaveAll(next);
    return first;
  }

  /** Settles what others took out of the queue; under our lock, or marked, it was dropped. */
  look(locked: boolean): void {
    const { spool } = this.#opened;
    if (!locked) this.#tried.clear();
    let toRead = READ_PER_LOOK;
    for (const [name, own] of this.#own) {
      if (this.#outlet.queue.unsaved.has(name)) continue;
      if (spool.has(name)) {
        // Only the file has the problem that another process ran into.
        const now = toRead > 0 ? spool.read(name) : undefined;
        if (now && now !== 'damaged') own.entry = now;
        toRead -= 1;
        continue;
      }
      const { entry } = own;
      const dead = spool.read(name, 'dead');
      if (dead && dead !== 'damaged')
        this.onEnd(name, { result: 'rejected', entry: dead, id: idOf(name) });
      else if (locked || spool.isDropped(name))
        this.onEnd(name, { result: 'rejected', entry: { ...entry, problem: DROPPED } });
      else {
        const sent = Math.max(1, entry.sent);
        this.onEnd(name, { result: 'delivered', entry: { ...entry, sent } });
      }
    }
  }

  /**
   * Stops waiting: the entry is queued, or lost when it is only in memory. `next`: what can be sent
   * next; undefined while another process holds the lock. `refused`: why the lock cannot be taken.
   */
  #leave(name: EntryName, next?: Next, refused?: Failure): void {
    const { unsaved } = this.#outlet.queue;
    const lost = unsaved.get(name);
    const found = lost ?? this.#opened.spool.read(name);
    const entry = found && found !== 'damaged' ? found : (this.#own.get(name)?.entry as QueueEntry);
    unsaved.delete(name);
    const problem = refused ? null : (entry.problem ?? next?.problem ?? null);
    this.onEnd(name, {
      result: lost ? 'failed' : 'queued',
      entry: { ...entry, problem },
      id: lost ? undefined : idOf(name),
      untried: problem ? undefined : (refused?.message ?? whyUntried(next)),
      asked: next?.why === 'asked' ? next.wait : undefined,
    });
  }

  #leaveAll(next?: Next, refused?: Failure): void {
    for (const name of [...this.#own.keys()]) this.#leave(name, next, refused);
  }

  #leaveExpired(next?: Next): void {
    const now = this.#outlet.clock.elapsed();
    for (const [name, { deadline }] of [...this.#own]) if (deadline <= now) this.#leave(name, next);
  }

  #lastDeadline(): number {
    let last = 0;
    for (const { deadline } of this.#own.values()) last = Math.max(last, deadline);
    return last;
  }
}

/** Why an entry was not sent in time without an error. */
function whyUntried(next: Next | undefined): string {
  if (!next) return 'another process is delivering';
  if (next.wait <= 0) return 'there was no time to try';
  if (next.why === 'backoff')
    return 'an earlier message about the same is waiting for its next try';
  const seconds = `${Math.ceil(next.wait / 1000)} s`;
  return next.why === 'rate'
    ? `the rate limit allows the next message in ${seconds}`
    : `the next try is in ${seconds}`;
}
