/**
 * Brings what waits in the spool to one channel, one exchange at a time: in order for each deploy,
 * within the rates, again when that may help. Whoever calls it holds the channel's lock.
 */
import { Failure } from '@runner/common/failure';
import type { Channel, Complaint, Message, Outcome, Problem } from './channels/channel.ts';
import type { Clock } from './clock.ts';
import type { Destination, Wait, WaitKind } from './spool/destination.ts';
import type { Entry } from './spool/entry.ts';
import type { EntryName } from './spool/names.ts';
import type { Spool } from './spool/spool.ts';
import { mayHaveArrived, PAUSE_MAX, pauseAfter } from './spool/trouble.ts';

/** A message is given up when it is older than a day, in milliseconds, and was tried so many times. */
const AGE_MAX = 86_400_000;
const ATTEMPTS_MIN = 8;
/** Longest sleep, in milliseconds: messages may come meanwhile, and the clock may be set. */
const SLICE = 200;

/** What became of an entry in the courier's hands. */
export interface Ending {
  readonly name: EntryName;
  /** `dead`: it was given up, for the problem of the entry. */
  readonly result: 'delivered' | 'dead';
  readonly entry: Entry;
  /** A message was refused as it was and delivered as plain text or shortened. */
  readonly degraded: Complaint | undefined;
  readonly movedTo: string | undefined;
}

/** The next exchange that could be made. */
export interface Next {
  readonly name: EntryName;
  /** Milliseconds until it can be made. */
  readonly wait: number;
  /** `backoff`: the message itself has been tried in vain. */
  readonly why: WaitKind | 'backoff';
  /** What went wrong at the destination, when that is why. */
  readonly problem: Problem | undefined;
}

/** How long to go on. */
export interface Patience {
  /** Makes the exchange (or waits for it), or ends; also asked when nothing is left. */
  goOn(next: Next | undefined): boolean;
  /** Ignores pauses after trouble that passes, once for each message. */
  readonly eager?: boolean;
}

export interface CourierOptions {
  readonly spool: Spool;
  readonly channel: Channel;
  readonly destination: Destination;
  readonly clock: Clock;
  /** The messages of an entry, in order; none when its event cannot be read. */
  render(entry: Entry): Promise<Message[]>;
  note(text: string): void;
}

export interface Courier {
  /** Delivers until `patience` ends it; `ended` is told of each entry that leaves the queue. */
  bring(patience: Patience, ended: (ending: Ending) => void): Promise<void>;
}

/** What the courier knows of a waiting entry without reading it again. */
interface Known {
  readonly deploy: string;
  readonly nextAt: number;
}

/** An entry in work: its messages, in the forms that were not refused. */
interface Work {
  readonly name: EntryName;
  readonly messages: Message[];
  degraded: Complaint | undefined;
  movedTo: string | undefined;
}

/** `unsaved` are entries that could not be written: they are in memory alone, and gone when it ends. */
export function courierFor(
  options: CourierOptions,
  unsaved: Map<EntryName, Entry> = new Map(),
): Courier {
  const { spool, channel, destination, clock, note } = options;
  /** What waits, oldest first; undefined: not read yet. */
  const known = new Map<EntryName, Known | undefined>();
  const tried = new Set<EntryName>();
  let work: Work | undefined;
  let told = false;

  const read = (name: EntryName) => unsaved.get(name) ?? spool.read(name);
  const save = (name: EntryName, entry: Entry) => {
    known.set(name, knownOf(entry, clock.now()));
    if (unsaved.has(name)) {
      unsaved.set(name, entry);
      return;
    }
    // Somebody has dropped it: it must not come back.
    if (!spool.has(name)) return;
    try {
      spool.save(name, entry);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (!told) note(`${channel.name}: ${error.message}: a message may be repeated`);
      told = true;
    }
  };
  const remove = (name: EntryName) => {
    if (!unsaved.delete(name)) spool.remove(name);
  };
  const bury = (name: EntryName, entry: Entry | undefined) => {
    try {
      if (!unsaved.delete(name)) spool.move(name, entry, 'dead');
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      note(`${channel.name}: ${error.message}: the message is dropped`);
      spool.remove(name);
    }
  };

  /** Looks into the folder again: with a thousand that wait this is no work for every message. */
  const refresh = () => {
    const names = [...unsaved.keys(), ...spool.names(channel.name)].sort();
    const before = new Map(known);
    known.clear();
    for (const name of names) known.set(name, before.get(name));
  };

  /** The oldest entry that can be sent first; a later one of a deploy waits for the earlier. */
  const choose = (eager: boolean): Next | undefined => {
    const common = destination.wait({ ignoreTrouble: eager });
    const next = pick(common, eager);
    if (next && next.wait <= common.ms) return next;
    // What has come meanwhile may go at once.
    refresh();
    return pick(common, eager);
  };

  const pick = (common: Wait, eager: boolean): Next | undefined => {
    const deploys = new Set<string>();
    let best: Next | undefined;
    for (const [name, value] of known) {
      const found = value ?? learn(name);
      if (!found || deploys.has(found.deploy)) continue;
      deploys.add(found.deploy);
      if (eager && tried.has(name)) continue;
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

  const learn = (name: EntryName): Known | undefined => {
    const entry = read(name);
    if (entry === 'damaged') {
      note(`${channel.name}: the message ${name} is damaged: it was put aside`);
      bury(name, undefined);
    }
    if (entry === undefined || entry === 'damaged') {
      known.delete(name);
      return undefined;
    }
    const found = knownOf(entry, clock.now());
    known.set(name, found);
    return found;
  };

  const workOn = async (name: EntryName, entry: Entry): Promise<Work> => {
    if (work?.name === name) return work;
    const messages = await options.render(entry);
    work = { name, messages: [...messages], degraded: undefined, movedTo: undefined };
    return work;
  };

  const exchange = async (name: EntryName, ended: (ending: Ending) => void): Promise<void> => {
    const found = read(name);
    if (found === undefined || found === 'damaged') {
      known.delete(name);
      return;
    }
    const current = await workOn(name, found);
    const end = (result: Ending['result'], entry: Entry) => {
      const { degraded, movedTo } = current;
      if (result === 'dead') bury(name, entry);
      else remove(name);
      known.delete(name);
      work = undefined;
      ended({ name, result, entry, degraded, movedTo });
    };
    if (current.messages.length === 0) return end('dead', { ...found, problem: UNREADABLE });
    const message = current.messages[found.sent];
    if (!message) return end('delivered', { ...found, sent: current.messages.length });
    const stopped = destination.stopped();
    if (stopped) return end('dead', { ...found, problem: stopped });
    const now = new Date(clock.now()).toISOString();
    const entry: Entry = {
      ...found,
      attempting: now,
      first_at: found.first_at ?? now,
      // The mark of a request that another process made and did not live to see answered.
      maybe_duplicate: found.maybe_duplicate || found.attempting !== null,
    };
    save(name, entry);
    tried.add(name);
    destination.sending();
    const outcome = await channel.deliver(message);
    destination.answered(outcome, (failures) => pauseAfter(failures, clock.random(2)));
    settle(current, entry, outcome, end);
  };

  const settle = (
    current: Work,
    entry: Entry,
    outcome: Outcome,
    end: (result: Ending['result'], entry: Entry) => void,
  ): void => {
    const answered: Entry = { ...entry, attempting: null };
    if (outcome.class === 'delivered') {
      current.movedTo ??= outcome.movedTo;
      tried.delete(current.name);
      const sent = entry.sent + 1;
      const done: Entry = { ...answered, sent, attempts: 0, next_at: null, problem: null };
      if (sent >= current.messages.length) end('delivered', done);
      else save(current.name, done);
      return;
    }
    const { problem } = outcome;
    if (outcome.class === 'rejected' || outcome.class === 'gone') {
      const complaint = outcome.class === 'rejected' ? outcome.complaint : undefined;
      const other = complaint && current.messages[entry.sent]?.instead(complaint);
      if (!other) {
        end('dead', { ...answered, problem });
        return;
      }
      current.messages[entry.sent] = other;
      current.degraded = complaint;
      tried.delete(current.name);
      save(current.name, answered);
      return;
    }
    const attempts = entry.attempts + 1;
    const failed: Entry = { ...answered, attempts, problem };
    const age = clock.now() - Date.parse(entry.queued_at);
    if (age > AGE_MAX && attempts >= ATTEMPTS_MIN) {
      end('dead', failed);
      return;
    }
    if (outcome.class === 'wait') {
      tried.delete(current.name);
      save(current.name, { ...failed, next_at: null });
      return;
    }
    const next = clock.now() + pauseAfter(attempts, clock.random(2));
    save(current.name, {
      ...failed,
      next_at: new Date(next).toISOString(),
      maybe_duplicate: entry.maybe_duplicate || mayHaveArrived(problem),
    });
  };

  return {
    async bring(patience, ended) {
      tried.clear();
      known.clear();
      for (;;) {
        const next = choose(patience.eager === true);
        if (!patience.goOn(next) || !next) return;
        if (next.wait > 0) await clock.sleep(Math.min(Math.ceil(next.wait), SLICE));
        else await exchange(next.name, ended);
      }
    },
  };
}

const UNREADABLE: Problem = {
  method: 'spool',
  http_status: null,
  code: 'event_invalid',
  description: 'the event cannot be read',
  retryable: false,
  hint: undefined,
};

/** No pause is longer than PAUSE_MAX: one that seems to be was made by another clock. */
function knownOf({ event, next_at }: Entry, now: number): Known {
  const nextAt = next_at === null ? 0 : Math.min(Date.parse(next_at), now + PAUSE_MAX);
  return { deploy: String(event.deploy_id), nextAt };
}
