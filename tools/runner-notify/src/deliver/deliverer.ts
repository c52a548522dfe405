/**
 * Delivers the entries of one process to one channel: queues each durably, delivers under the channel's
 * lock, and while another process holds the lock, watches how that one delivers them.
 */
import type { ChannelName } from '@runner/common/config/settings';
import { Failure } from '@runner/common/foundation/failure';
import type { Message, Problem } from '../service/contract.ts';
import { EXCHANGE_MIN, EXCHANGE_TIMEOUT } from '../service/exchange.ts';
import type { Entry } from '../spool/entry.ts';
import { type EntryName, entryName, idOf, timeOfName } from '../spool/names.ts';
import { lockChannel, type Spool } from '../spool/spool.ts';
import type { Opened, OpeningOptions } from './channels.ts';
import type { Patience } from './deliver.ts';
import { type Next, openQueue } from './queue.ts';
import { type Delivery, deliveryOf } from './result.ts';

/** While another process holds the lock: milliseconds between two looks, and looks per attempt to lock. */
const LOOK = 150;
const LOOKS_PER_TRY = 4;
/** How many entries, the oldest, are read at each look: the others wait behind them. */
const READ_PER_LOOK = 8;

/** `queue drop` removed the entry. */
const DROPPED: Problem = {
  method: 'spool',
  http_status: null,
  code: 'dropped',
  description: 'it was dropped from the queue',
  retryable: false,
  hint: undefined,
};

/** Delivers to one channel. */
export interface Deliverer {
  /**
   * Queues an entry before it returns, and waits up to `wait` ms for its delivery. An entry that
   * cannot be queued (`failure`) is sent directly. `messages` are those of the entry.
   */
  deliver(
    entry: Entry,
    wait: number,
    messages: () => Promise<readonly Message[]>,
  ): { readonly failure: Failure | undefined; readonly delivery: Promise<Delivery> };
}

/** What a deliverer works with. */
export interface DelivererOptions extends OpeningOptions {
  readonly opened: Opened;
  readonly spool: Spool;
  readonly name: ChannelName;
}

/** An entry of this process that is waited for. */
interface Own {
  /** As last seen. */
  entry: Entry;
  readonly messages: () => Promise<readonly Message[]>;
  /** In terms of `clock.elapsed`. */
  readonly deadline: number;
  resolve(delivery: Delivery): void;
  reject(error: unknown): void;
}

/** Works while an entry is waited for. */
export function openDeliverer(options: DelivererOptions): Deliverer {
  const { clock, spool, name: channel, note } = options;
  const own = new Map<EntryName, Own>();
  const queue = openQueue({ spool, channel, clock, note: options.opened.noteOnce });
  const waiting = waitingEntries(options, own, queue.unsaved);
  let lastTime = 0;
  let working = false;
  let tidied = false;
  /** Until when the last run found that the destination accepts no message. */
  let blocked: { readonly next: Next; readonly until: number } | undefined;

  const nextName = (): EntryName => {
    // Names sort in the order of arrival, also when the clock is set back.
    if (lastTime === 0) lastTime = timeOfName(spool.names(channel).at(-1));
    lastTime = Math.max(clock.now(), lastTime + 1);
    return entryName(lastTime, clock.random(), channel);
  };

  const lock = () => {
    try {
      return lockChannel(options, channel);
    } catch (error) {
      // A disk that accepts no entry may accept no lock either: entries in memory are sent anyway.
      if (error instanceof Failure && queue.unsaved.size > 0) return { release: () => {} };
      throw error;
    }
  };

  const workUnderLock = async () => {
    waiting.look(false);
    if (!tidied) spool.tidy(channel, options.io.now());
    tidied = true;
    const patience = patienceFor(waiting, own, clock);
    const goOn = (next: Next | undefined) => {
      const blocks = next !== undefined && next.wait > 0 && next.why !== 'backoff';
      blocked = blocks ? { next, until: clock.elapsed() + next.wait } : undefined;
      return patience.goOn(next);
    };
    await options.opened.deliver(
      channel,
      queue,
      { ...patience, goOn },
      (ending) => waiting.settle(ending.name, deliveryOf(ending)),
      (name) => own.get(name)?.messages(),
    );
    waiting.look(true);
  };

  const work = async (): Promise<void> => {
    for (let looks = 0; own.size > 0; looks += 1) {
      const held = looks % LOOKS_PER_TRY === 0 ? lock() : undefined;
      if (held) {
        await workUnderLock().finally(() => held.release());
        looks = -1;
      } else {
        waiting.look(false);
        for (const [name, { deadline }] of own)
          if (clock.elapsed() >= deadline) waiting.leave(name);
        if (own.size > 0) await clock.sleep(LOOK);
      }
    }
  };

  const start = async () => {
    if (working) return;
    working = true;
    try {
      await work();
    } catch (error) {
      if (error instanceof Failure) {
        // E.g. the lock cannot be taken: entries on disk stay there.
        if (own.size === 0) note(`${channel}: ${error.message}`);
        for (const name of [...own.keys()]) waiting.leave(name, undefined, error);
      }
      for (const { reject } of own.values()) reject(error);
      own.clear();
    } finally {
      working = false;
    }
  };

  return {
    deliver(entry, wait, messages) {
      const name = nextName();
      const failure = queue.add(name, entry);
      const delivery = new Promise<Delivery>((resolve, reject) => {
        const now = clock.elapsed();
        own.set(name, { entry, messages, deadline: now + wait, resolve, reject });
        // Taking the lock for each entry of a long input would cost more than all the rest.
        if (!failure && blocked && now + wait < blocked.until)
          waiting.leave(name, { ...blocked.next, wait: blocked.until - now });
        else void start();
      });
      return { failure, delivery };
    },
  };
}

/** How waiting for an entry ends. */
interface WaitingEntries {
  settle(name: EntryName, delivery: Delivery): void;
  /**
   * Stops waiting: the entry is queued, or lost when it is only in memory. `next`: what can be sent
   * next; undefined while another process holds the lock. `refused`: why the lock cannot be taken.
   */
  leave(name: EntryName, next?: Next, refused?: Failure): void;
  /** Settles what others took out of the queue; under our lock (`locked`) that is not a delivery. */
  look(locked: boolean): void;
}

function waitingEntries(
  { spool }: DelivererOptions,
  own: Map<EntryName, Own>,
  unsaved: Map<EntryName, Entry>,
): WaitingEntries {
  const settle = (name: EntryName, delivery: Delivery) => {
    own.get(name)?.resolve(delivery);
    own.delete(name);
  };
  return {
    settle,
    leave(name, next, refused) {
      const lost = unsaved.get(name);
      const found = lost ?? spool.read(name);
      const entry = found && found !== 'damaged' ? found : (own.get(name)?.entry as Entry);
      unsaved.delete(name);
      const problem = refused ? undefined : (entry.problem ?? next?.problem);
      settle(name, {
        result: lost ? 'failed' : 'queued',
        entry,
        id: lost ? undefined : idOf(name),
        problem,
        untried: problem ? undefined : (refused?.message ?? whyUntried(next)),
        asked: next?.why === 'asked' ? next.wait : undefined,
      });
    },
    look(locked) {
      let toRead = READ_PER_LOOK;
      for (const [name, each] of own) {
        const { entry } = each;
        if (unsaved.has(name)) continue;
        if (spool.has(name)) {
          // The problem that another process met is known from the file only.
          const now = toRead > 0 ? spool.read(name) : undefined;
          if (now && now !== 'damaged') each.entry = now;
          toRead -= 1;
          continue;
        }
        const dead = spool.read(name, 'dead');
        if (dead && dead !== 'damaged') {
          settle(name, {
            result: 'rejected',
            entry: dead,
            id: idOf(name),
            problem: dead.problem ?? undefined,
          });
        } else if (locked) settle(name, { result: 'rejected', entry, problem: DROPPED });
        else
          settle(name, { result: 'delivered', entry: { ...entry, sent: Math.max(1, entry.sent) } });
      }
    },
  };
}

/** Goes on until the deadline of the last entry that is waited for. */
function patienceFor(
  waiting: WaitingEntries,
  own: ReadonlyMap<EntryName, Own>,
  clock: OpeningOptions['clock'],
): Patience {
  const tried = new Set<EntryName>();
  const lastDeadline = () => {
    let last = 0;
    for (const { deadline } of own.values()) last = Math.max(last, deadline);
    return last;
  };
  return {
    within() {
      const left = Math.ceil((lastDeadline() - clock.elapsed()) / 1000) * 1000;
      return Math.min(Math.max(left, EXCHANGE_MIN), EXCHANGE_TIMEOUT);
    },
    goOn(next) {
      const now = clock.elapsed();
      const expired = [...own].filter(([, { deadline }]) => deadline <= now);
      if (next && next.wait > 0) for (const [name] of expired) waiting.leave(name, next);
      if (own.size === 0 || !next) return false;
      if (now + next.wait <= lastDeadline()) return true;
      // Without time to wait, each entry, and those before it, is tried once if it can be sent now.
      const untried = [...own.keys()].some((name) => !tried.has(name));
      const first = next.wait === 0 && untried && !tried.has(next.name);
      tried.add(next.name);
      if (!first) for (const name of [...own.keys()]) waiting.leave(name, next);
      return first;
    },
  };
}

/** Why an entry was not tried in time although nothing went wrong. */
function whyUntried(next: Next | undefined): string {
  if (!next) return 'another process is delivering';
  if (next.wait <= 0) return 'there was no time to try';
  if (next.why === 'backoff') return 'an earlier message of the same deploy waits for its next try';
  const seconds = `${Math.ceil(next.wait / 1000)} s`;
  return next.why === 'rate'
    ? `the rate limit allows the next message in ${seconds}`
    : `the next try is in ${seconds}`;
}
