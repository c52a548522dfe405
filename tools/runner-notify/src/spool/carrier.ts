/**
 * Carries the entries of one process to one channel: queues each durably, delivers under the
 * channel's lock, and while another process holds it watches how that one delivers them.
 */

import type { ChannelName } from '@runner/common/config/settings';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { EXCHANGE_MIN, EXCHANGE_TIMEOUT, type Problem } from '../channels/channel.ts';
import type { Clock } from '../clock.ts';
import type { Ending, Patience } from '../courier.ts';
import type { Opened } from '../opening.ts';
import { type Carried, carriedOf, untriedFor } from './carried.ts';
import type { Entry } from './entry.ts';
import { type EntryName, entryName, idOf, timeOfName } from './names.ts';
import { lockChannel, type Spool } from './spool.ts';
import type { Next } from './turns.ts';

/** While another process holds the lock, milliseconds between two looks, and how many of them try the lock. */
const LOOK = 150;
const LOOKS_PER_TRY = 4;
/** So many entries, the oldest, are read at each look: the others wait behind them. */
const LOOKED_AT = 8;

/** Somebody took the entry out by `queue drop`. */
const DROPPED: Problem = {
  method: 'spool',
  http_status: null,
  code: 'dropped',
  description: 'it was dropped from the queue',
  retryable: false,
  hint: undefined,
};

/** Takes entries for one channel. */
export interface Carrier {
  /**
   * Queues an entry, before this function returns, and waits at most so many milliseconds for its
   * delivery; `unqueued` is told when it cannot be queued: it is tried directly then.
   */
  carry(entry: Entry, wait: number, unqueued: (error: Failure) => void): Promise<Carried>;
}

/** Who carries, and to which channel. */
export interface CarrierOptions {
  readonly io: Io;
  readonly paths: Paths;
  readonly clock: Clock;
  readonly title: string;
  readonly opened: Opened;
  readonly spool: Spool;
  readonly name: ChannelName;
  note(text: string): void;
}

/** An entry of this process that is waited for. */
interface Own {
  /** As it was when it was last seen. */
  entry: Entry;
  /** By the clock that never steps back. */
  readonly deadline: number;
  settle(carried: Carried): void;
  reject(error: unknown): void;
}

/** The carrier of one channel; it works while something is waited for. */
export function carrierFor(options: CarrierOptions): Carrier {
  const { io, clock, opened, spool, name: channel, note } = options;
  const own = new Map<EntryName, Own>();
  const unsaved = new Map<EntryName, Entry>();
  let lastTime = 0;
  let working = false;

  const nameFor = (): EntryName => {
    // Names sort in the order of arrival, also when the clock is set back.
    const newest = lastTime || Math.max(0, ...spool.names(channel).map(timeOfName));
    lastTime = Math.max(clock.now(), newest + 1);
    return entryName(lastTime, clock.random(), channel);
  };

  const settle = (
    name: EntryName,
    carried: Partial<Carried> & Pick<Carried, 'result' | 'entry'>,
  ) => {
    own.get(name)?.settle({
      id: carried.result === 'queued' || carried.result === 'rejected' ? idOf(name) : undefined,
      problem: carried.entry.problem ?? undefined,
      untried: undefined,
      asked: undefined,
      degraded: undefined,
      movedTo: undefined,
      ...carried,
    });
    own.delete(name);
  };

  const ended = (ending: Ending) => {
    if (ending.movedTo) opened.saveMove(channel, ending.movedTo);
    settle(ending.name, carriedOf(ending));
  };

  /**
   * Settles what is still waited for as queued, or lost when it is in memory alone. `next`: what could
   * be sent next; undefined when another process holds the lock. `refused`: why no lock can be had.
   */
  const leave = (name: EntryName, next?: Next, refused?: Failure) => {
    const lost = unsaved.get(name);
    const found = lost ?? spool.read(name);
    const entry = found && found !== 'damaged' ? found : (own.get(name)?.entry as Entry);
    unsaved.delete(name);
    const problem = refused ? undefined : (entry.problem ?? next?.problem);
    const asked = next?.why === 'asked' ? next.wait : undefined;
    const untried = problem ? undefined : (refused?.message ?? untriedFor(next));
    settle(name, { result: lost ? 'failed' : 'queued', entry, problem, untried, asked });
  };

  /** Settles what another process has taken out of the queue: under our lock that is no delivery. */
  const look = (locked = false) => {
    let fresh = LOOKED_AT;
    for (const [name, each] of own) {
      const { entry } = each;
      if (unsaved.has(name)) continue;
      if (spool.has(name)) {
        // What others have met with it so far: they tell nobody else.
        const now = fresh > 0 ? spool.read(name) : undefined;
        if (now && now !== 'damaged') each.entry = now;
        fresh -= 1;
        continue;
      }
      const dead = spool.read(name, 'dead');
      if (dead && dead !== 'damaged') settle(name, { result: 'rejected', entry: dead });
      else if (locked) settle(name, { result: 'rejected', entry, id: undefined, problem: DROPPED });
      else
        settle(name, { result: 'delivered', entry: { ...entry, sent: Math.max(1, entry.sent) } });
    }
  };

  const patience = (): Patience => {
    const tried = new Set<EntryName>();
    const lastDeadline = () => Math.max(...[...own.values()].map(({ deadline }) => deadline));
    return {
      within() {
        const left = Math.ceil((lastDeadline() - clock.elapsed()) / 1000) * 1000;
        return Math.min(Math.max(left, EXCHANGE_MIN), EXCHANGE_TIMEOUT);
      },
      goOn(next) {
        const now = clock.elapsed();
        const expired = [...own].filter(([, { deadline }]) => deadline <= now);
        if (next && next.wait > 0) for (const [name] of expired) leave(name, next);
        if (own.size === 0 || !next) return false;
        if (now + next.wait <= lastDeadline()) return true;
        // Without time to wait each is tried once, those before it too, when that takes no waiting.
        const untried = [...own.keys()].some((name) => !tried.has(name));
        const first = next.wait === 0 && untried && !tried.has(next.name);
        tried.add(next.name);
        if (!first) for (const name of [...own.keys()]) leave(name, next);
        return first;
      },
    };
  };

  const lock = () => {
    try {
      return lockChannel(options, channel);
    } catch (error) {
      // A disk that takes no entry may take no lock either: what is in memory is tried all the same.
      if (error instanceof Failure && unsaved.size > 0) return { release: () => {} };
      throw error;
    }
  };

  const workUnderLock = async () => {
    look();
    spool.tidy(channel, io.now());
    // Opened under the lock: what others have learnt of the destination stands on disk.
    await opened.courier(channel, spool, unsaved).bring(patience(), ended);
    look(true);
  };

  const work = async (): Promise<void> => {
    for (let looks = 0; own.size > 0; looks += 1) {
      const held = looks % LOOKS_PER_TRY === 0 ? lock() : undefined;
      if (held) {
        await workUnderLock().finally(() => held.release());
        looks = -1;
      } else {
        look();
        for (const [name, { deadline }] of own) if (clock.elapsed() >= deadline) leave(name);
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
        // E.g. no lock can be had: what is on disk stays there for whoever can.
        if (own.size === 0) note(`${channel}: ${error.message}`);
        for (const name of [...own.keys()]) leave(name, undefined, error);
      }
      for (const { reject } of own.values()) reject(error);
      own.clear();
    } finally {
      working = false;
    }
  };

  return {
    carry(entry, wait, unqueued) {
      const name = nameFor();
      try {
        spool.save(name, entry);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        unqueued(error);
        unsaved.set(name, entry);
      }
      return new Promise((resolve, reject) => {
        own.set(name, { entry, deadline: clock.elapsed() + wait, settle: resolve, reject });
        void start();
      });
    },
  };
}
