/** Entries whose delivery this process is waiting for, each until its deadline. */
import type { Failure } from '@runner/common/foundation/failure';
import type { Message } from '../service/contract.ts';
import { EXCHANGE_MIN, EXCHANGE_TIMEOUT } from '../service/exchange.ts';
import { type Entry, spoolProblem } from '../spool/entry.ts';
import { type EntryName, idOf } from '../spool/names.ts';
import type { Spool } from '../spool/spool.ts';
import type { Clock } from './clock.ts';
import type { DeliveryPolicy } from './deliver.ts';
import type { Next } from './queue.ts';
import type { Delivery } from './result.ts';

/** How many of the oldest entries are read at each check; the others wait behind them. */
const READ_PER_LOOK = 8;

/** `queue drop` removed the entry. */
const DROPPED = spoolProblem('dropped', 'it was dropped from the queue');

/** Renders the messages of an entry. */
export type Messages = () => Promise<readonly Message[]>;

interface Awaiting {
  /** As last seen. */
  entry: Entry;
  readonly messages: Messages;
  /** In terms of `clock.elapsed`. */
  readonly deadline: number;
}

interface Waiter {
  resolve(delivery: Delivery): void;
  reject(error: unknown): void;
}

export class Awaited {
  readonly #spool: Spool;
  readonly #clock: Clock;
  /** Entries that are only in memory. */
  readonly #unsaved: Map<EntryName, Entry>;
  readonly #all = new Map<EntryName, Awaiting & Waiter>();

  constructor(spool: Spool, clock: Clock, unsaved: Map<EntryName, Entry>) {
    this.#spool = spool;
    this.#clock = clock;
    this.#unsaved = unsaved;
  }

  get size(): number {
    return this.#all.size;
  }

  messages(name: EntryName): ReturnType<Messages> | undefined {
    return this.#all.get(name)?.messages();
  }

  add(name: EntryName, awaiting: Awaiting): Promise<Delivery> {
    return new Promise((resolve, reject) => {
      this.#all.set(name, { ...awaiting, resolve, reject });
    });
  }

  settle(name: EntryName, delivery: Delivery): void {
    this.#all.get(name)?.resolve(delivery);
    this.#all.delete(name);
  }

  /**
   * Stops waiting: the entry is queued, or lost when it is only in memory. `next`: what can be sent
   * next; undefined while another process holds the lock. `refused`: why the lock cannot be taken.
   */
  leave(name: EntryName, next?: Next, refused?: Failure): void {
    const lost = this.#unsaved.get(name);
    const found = lost ?? this.#spool.read(name);
    const entry = found && found !== 'damaged' ? found : (this.#all.get(name)?.entry as Entry);
    this.#unsaved.delete(name);
    const problem = refused ? undefined : (entry.problem ?? next?.problem);
    this.settle(name, {
      result: lost ? 'failed' : 'queued',
      entry,
      id: lost ? undefined : idOf(name),
      problem,
      untried: problem ? undefined : (refused?.message ?? whyUntried(next)),
      asked: next?.why === 'asked' ? next.wait : undefined,
    });
  }

  leaveAll(next?: Next, refused?: Failure): void {
    for (const name of [...this.#all.keys()]) this.leave(name, next, refused);
  }

  leaveExpired(next?: Next): void {
    const now = this.#clock.elapsed();
    for (const [name, { deadline }] of [...this.#all]) if (deadline <= now) this.leave(name, next);
  }

  rejectAll(error: unknown): void {
    for (const { reject } of this.#all.values()) reject(error);
    this.#all.clear();
  }

  /** Settles what others took out of the queue; under our lock (`locked`), or marked, it was dropped. */
  look(locked: boolean): void {
    let toRead = READ_PER_LOOK;
    for (const [name, each] of this.#all) {
      const { entry } = each;
      if (this.#unsaved.has(name)) continue;
      if (this.#spool.has(name)) {
        // Only the file has the problem that another process ran into.
        const now = toRead > 0 ? this.#spool.read(name) : undefined;
        if (now && now !== 'damaged') each.entry = now;
        toRead -= 1;
        continue;
      }
      const dead = this.#spool.read(name, 'dead');
      if (dead && dead !== 'damaged') {
        const problem = dead.problem ?? undefined;
        this.settle(name, { result: 'rejected', entry: dead, id: idOf(name), problem });
      } else if (locked || this.#spool.isDropped(name))
        this.settle(name, { result: 'rejected', entry, problem: DROPPED });
      else {
        const sent = Math.max(1, entry.sent);
        this.settle(name, { result: 'delivered', entry: { ...entry, sent } });
      }
    }
  }

  /** Continues until the last deadline. */
  policy(): DeliveryPolicy {
    const tried = new Set<EntryName>();
    return {
      within: () => {
        const left = Math.ceil((this.#lastDeadline() - this.#clock.elapsed()) / 1000) * 1000;
        return Math.min(Math.max(left, EXCHANGE_MIN), EXCHANGE_TIMEOUT);
      },
      shouldContinue: (next) => {
        if (next && next.wait > 0) this.leaveExpired(next);
        if (this.size === 0 || !next) return false;
        if (this.#clock.elapsed() + next.wait <= this.#lastDeadline()) return true;
        // Without time to wait, each entry, and those before it, is tried once if it can be sent now.
        const untried = [...this.#all.keys()].some((name) => !tried.has(name));
        const first = next.wait === 0 && untried && !tried.has(next.name);
        tried.add(next.name);
        if (!first) this.leaveAll(next);
        return first;
      },
    };
  }

  #lastDeadline(): number {
    let last = 0;
    for (const { deadline } of this.#all.values()) last = Math.max(last, deadline);
    return last;
  }
}

/** Why an entry was not sent in time without an error. */
function whyUntried(next: Next | undefined): string {
  if (!next) return 'another process is delivering';
  if (next.wait <= 0) return 'there was no time to try';
  if (next.why === 'backoff')
    return 'an earlier message of the same deploy is waiting for its next try';
  const seconds = `${Math.ceil(next.wait / 1000)} s`;
  return next.why === 'rate'
    ? `the rate limit allows the next message in ${seconds}`
    : `the next try is in ${seconds}`;
}
