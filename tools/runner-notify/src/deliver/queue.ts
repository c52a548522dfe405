/**
 * The waiting entries of one channel as this process knows them, and which is next: the oldest that
 * can be sent, in order within each deploy. Entries are on disk, or in memory when it cannot be
 * written.
 */
import type { ChannelName } from '@runner/common/config/settings';
import { Failure } from '@runner/common/foundation/failure';
import type { Problem } from '../service/contract.ts';
import type { Entry } from '../spool/entry.ts';
import type { EntryName } from '../spool/names.ts';
import type { Spool } from '../spool/spool.ts';
import type { Clock } from './clock.ts';
import { PAUSE_MAX, type Wait, type WaitKind } from './destination.ts';

/** The next request that can be made. */
export interface Next {
  readonly name: EntryName;
  /** Milliseconds until it can be made. */
  readonly wait: number;
  /** `backoff`: the message itself failed before. */
  readonly why: WaitKind | 'backoff';
  /** The destination's problem, when that is why. */
  readonly problem: Problem | undefined;
}

/** The entries of one channel. */
export interface Queue {
  /** Starts a run: no entry counts as tried. */
  begin(): void;
  /** The oldest entry that can be sent; a later one of a deploy waits for the earlier. `eager`: each once. */
  choose(common: Wait, eager: boolean): Next | undefined;
  read(name: EntryName): Entry | 'damaged' | undefined;
  /** Queues a new entry, in memory when it cannot be written: then returns why. */
  add(name: EntryName, entry: Entry): Failure | undefined;
  /** Saves a known entry. A failure is reported once: the message may be repeated. */
  save(name: EntryName, entry: Entry): void;
  remove(name: EntryName): void;
  /** Moves an entry to the dead; undefined: unchanged. */
  bury(name: EntryName, entry: Entry | undefined): void;
  /** It left the queue. */
  forget(name: EntryName): void;
  tried(name: EntryName): void;
  untried(name: EntryName): void;
  /** Entries that are only in memory, lost when the process ends. */
  readonly unsaved: Map<EntryName, Entry>;
}

/** What a queue works with. */
export interface QueueOptions {
  readonly spool: Spool;
  readonly channel: ChannelName;
  readonly clock: Clock;
  note(text: string): void;
}

/** What is known of an entry without reading it again. */
interface Position {
  readonly deploy: string;
  readonly nextAt: number;
}

/** At most a tenth of the time goes into listing the spool: otherwise a big backlog takes quadratic time. */
const LISTING_SHARE = 10;

/** Lists the spool when it is first used, and again for entries of other processes. */
export function openQueue({ spool, channel, clock, note }: QueueOptions): Queue {
  /** Oldest first; undefined: not read yet. */
  const known = new Map<EntryName, Position | undefined>();
  const unsaved = new Map<EntryName, Entry>();
  const triedNow = new Set<EntryName>();
  let listAgainAt = 0;
  let failureNoted = false;

  const listIfDue = (): boolean => {
    const start = clock.elapsed();
    if (start < listAgainAt) return false;
    const before = new Map(known);
    known.clear();
    const names = spool.names(channel);
    const all = unsaved.size === 0 ? names : [...unsaved.keys(), ...names].sort();
    for (const name of all) known.set(name, before.get(name));
    const end = clock.elapsed();
    listAgainAt = end + LISTING_SHARE * (end - start);
    return true;
  };

  const positionOf = (name: EntryName): Position | undefined => {
    const entry = queue.read(name);
    if (entry === 'damaged') {
      note(`${channel}: the message ${spool.path(name)} is damaged; it was moved to dead/`);
      queue.bury(name, undefined);
    }
    if (entry === undefined || entry === 'damaged') {
      known.delete(name);
      return undefined;
    }
    const found = position(entry, clock.now());
    known.set(name, found);
    return found;
  };

  const pick = (common: Wait, eager: boolean): Next | undefined => {
    const deploys = new Set<string>();
    let best: Next | undefined;
    for (const [name, value] of known) {
      const found = value ?? positionOf(name);
      if (!found || deploys.has(found.deploy)) continue;
      deploys.add(found.deploy);
      if (eager && triedNow.has(name)) continue;
      const own = eager ? 0 : found.nextAt - clock.now();
      const next: Next =
        own > common.ms
          ? { name, wait: own, why: 'backoff', problem: undefined }
          : { name, wait: common.ms, why: common.kind, problem: common.problem };
      if (!best || next.wait < best.wait) best = next;
      if (best.wait <= common.ms) break;
    }
    return best;
  };

  const queue: Queue = {
    unsaved,
    begin() {
      triedNow.clear();
      listIfDue();
    },
    choose(common, eager) {
      const next = pick(common, eager);
      if (next && next.wait <= common.ms) return next;
      // A new entry may be sendable at once.
      return listIfDue() ? pick(common, eager) : next;
    },
    read: (name) => unsaved.get(name) ?? spool.read(name),
    add(name, entry) {
      known.set(name, position(entry, clock.now()));
      try {
        spool.save(name, entry);
        return undefined;
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        unsaved.set(name, entry);
        return error;
      }
    },
    save(name, entry) {
      known.set(name, position(entry, clock.now()));
      if (unsaved.has(name)) unsaved.set(name, entry);
      // Another process may have dropped it: it must not come back.
      else if (spool.has(name)) {
        try {
          spool.save(name, entry);
        } catch (error) {
          if (!(error instanceof Failure)) throw error;
          if (!failureNoted) note(`${channel}: ${error.message}: a message may be repeated`);
          failureNoted = true;
        }
      }
    },
    remove(name) {
      if (!unsaved.delete(name)) spool.remove(name);
    },
    bury(name, entry) {
      try {
        if (!unsaved.delete(name)) spool.move(name, entry, 'dead');
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        note(`${channel}: ${error.message}: the message is dropped`);
        spool.remove(name);
      }
    },
    forget: (name) => void known.delete(name),
    tried: (name) => void triedNow.add(name),
    untried: (name) => void triedNow.delete(name),
  };
  return queue;
}

/** A pause longer than PAUSE_MAX was set by another clock. */
function position({ event, next_at }: Entry, now: number): Position {
  const nextAt = next_at === null ? 0 : Math.min(Date.parse(next_at), now + PAUSE_MAX);
  return { deploy: String(event.deploy_id), nextAt };
}
