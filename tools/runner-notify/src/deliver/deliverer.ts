/**
 * Delivers this process's entries to one channel: queues each durably and delivers under the channel's
 * lock. If another process holds the lock, it watches that process deliver them.
 */

import type { DestinationName } from '@runner/common/config/channels';
import type { Lock } from '@runner/common/files/lock';
import { Failure } from '@runner/common/foundation/failure';
import type { Entry } from '../spool/entry.ts';
import { type EntryName, entryName, timeOfName } from '../spool/names.ts';
import { lockChannel } from '../spool/spool.ts';
import { Awaited, type Messages } from './awaited.ts';
import type { OpenChannels } from './channels.ts';
import type { Next, Queue } from './queue.ts';
import { type Delivery, deliveryOf } from './result.ts';

/** While another process holds the lock: milliseconds between two checks, and checks per attempt to lock. */
const LOOK = 150;
const LOOKS_PER_TRY = 4;

export class Deliverer {
  readonly #opened: OpenChannels;
  readonly #name: DestinationName;
  readonly #queue: Queue;
  readonly #awaited: Awaited;
  #lastTime = 0;
  #working = false;
  #tidied = false;
  /** In the last run the destination accepted no messages until this time. */
  #blocked: { readonly next: Next; readonly until: number } | undefined;

  constructor(opened: OpenChannels, name: DestinationName) {
    this.#opened = opened;
    this.#name = name;
    this.#queue = opened.queueOf(name);
    this.#awaited = new Awaited(opened.spool, opened.options.clock, this.#queue.unsaved);
  }

  /**
   * Queues an entry before it returns, and waits up to `wait` ms for its delivery. An entry that
   * cannot be queued (`failure`) is sent directly. `messages` are those of the entry.
   */
  deliver(
    entry: Entry,
    wait: number,
    messages: Messages,
  ): { readonly failure: Failure | undefined; readonly delivery: Promise<Delivery> } {
    const name = this.#nextName();
    const failure = this.#queue.add(name, entry);
    const now = this.#opened.options.clock.elapsed();
    const delivery = this.#awaited.add(name, { entry, messages, deadline: now + wait });
    const blocked = this.#blocked;
    // Locking for each entry of a long input would be too slow.
    if (!failure && blocked && now + wait < blocked.until)
      this.#awaited.leave(name, { ...blocked.next, wait: blocked.until - now });
    else void this.#start();
    return { failure, delivery };
  }

  #nextName(): EntryName {
    const { clock } = this.#opened.options;
    const name = this.#name;
    // Names sort by arrival even if the clock is set back.
    if (this.#lastTime === 0) this.#lastTime = timeOfName(this.#opened.spool.names(name).at(-1));
    this.#lastTime = Math.max(clock.now(), this.#lastTime + 1);
    return entryName(this.#lastTime, clock.random(), name);
  }

  async #start(): Promise<void> {
    if (this.#working) return;
    this.#working = true;
    try {
      await this.#work();
    } catch (error) {
      if (error instanceof Failure) {
        // E.g. the lock cannot be taken: entries on disk stay there.
        if (this.#awaited.size === 0) this.#opened.options.note(`${this.#name}: ${error.message}`);
        this.#awaited.leaveAll(undefined, error);
      } else this.#awaited.rejectAll(error);
    } finally {
      this.#working = false;
    }
  }

  async #work(): Promise<void> {
    for (let looks = 0; this.#awaited.size > 0; looks += 1) {
      const held = looks % LOOKS_PER_TRY === 0 ? this.#lock() : undefined;
      if (held) {
        await this.#workUnderLock().finally(() => held.release());
        looks = -1;
      } else {
        this.#awaited.look(false);
        this.#awaited.leaveExpired();
        if (this.#awaited.size > 0) await this.#opened.options.clock.sleep(LOOK);
      }
    }
  }

  #lock(): Pick<Lock, 'release'> | undefined {
    try {
      return lockChannel(this.#opened.options, this.#name);
    } catch (error) {
      // If the disk is full, locking may fail too: send the entries in memory anyway.
      if (error instanceof Failure && this.#queue.unsaved.size > 0) return { release: () => {} };
      throw error;
    }
  }

  async #workUnderLock(): Promise<void> {
    const { spool, options } = this.#opened;
    const { io, clock } = options;
    this.#awaited.look(false);
    if (!this.#tidied) spool.tidy(this.#name, io.now());
    this.#tidied = true;
    const policy = this.#awaited.policy();
    const shouldContinue = (next: Next | undefined) => {
      const blocks = next !== undefined && next.wait > 0 && next.why !== 'backoff';
      this.#blocked = blocks ? { next, until: clock.elapsed() + next.wait } : undefined;
      return policy.shouldContinue(next);
    };
    await this.#opened.deliver(
      this.#name,
      this.#queue,
      { ...policy, shouldContinue },
      (ending) => this.#awaited.settle(ending.name, deliveryOf(ending)),
      (each) => this.#awaited.messages(each),
    );
    this.#awaited.look(true);
  }
}
