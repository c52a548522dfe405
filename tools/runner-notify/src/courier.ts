/**
 * Brings what waits in the spool to one channel, one exchange at a time: in order for each deploy,
 * within the rates, again when that may help. Whoever calls it holds the channel's lock.
 */
import type { Channel, Complaint, Message, Outcome, Problem } from './channels/channel.ts';
import type { Clock } from './clock.ts';
import type { Destination } from './spool/destination.ts';
import type { Entry } from './spool/entry.ts';
import { keepingOf } from './spool/keeping.ts';
import type { EntryName } from './spool/names.ts';
import type { Spool } from './spool/spool.ts';
import { mayHaveArrived, pauseAfter } from './spool/trouble.ts';
import { type Next, turnsFor } from './spool/turns.ts';

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

/** How long to go on. */
export interface Patience {
  /** Makes the exchange (or waits for it), or ends; also asked when nothing is left. */
  goOn(next: Next | undefined): boolean;
  /** Milliseconds that the next exchange may take; undefined leaves it to the channel. */
  within?(): number;
  /** Ignores pauses after trouble that passes, once for each message. */
  readonly eager?: boolean;
}

/** What a courier takes from where to where. */
export interface CourierOptions {
  readonly spool: Spool;
  readonly channel: Channel;
  readonly destination: Destination;
  readonly clock: Clock;
  /** The messages of an entry, in order; none when its event cannot be read. */
  render(entry: Entry): Promise<Message[]>;
  note(text: string): void;
}

/** Delivers the entries of one channel. */
export interface Courier {
  /** Delivers until `patience` ends it; `ended` is told of each entry that leaves the queue. */
  bring(patience: Patience, ended: (ending: Ending) => void): Promise<void>;
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
  const keeping = keepingOf(spool, channel.name, unsaved, note);
  const turns = turnsFor({ keeping, channel: channel.name, destination, clock, note });
  let work: Work | undefined;

  const save = (name: EntryName, entry: Entry) => {
    turns.learn(name, entry);
    keeping.save(name, entry);
  };

  const workOn = async (name: EntryName, entry: Entry): Promise<Work> => {
    if (work?.name === name) return work;
    const messages = await options.render(entry);
    work = { name, messages: [...messages], degraded: undefined, movedTo: undefined };
    return work;
  };

  const exchange = async (
    name: EntryName,
    ended: (ending: Ending) => void,
    within: number | undefined,
  ): Promise<void> => {
    const found = keeping.read(name);
    if (found === undefined || found === 'damaged') {
      turns.forget(name);
      return;
    }
    const current = await workOn(name, found);
    const end = (result: Ending['result'], entry: Entry) => {
      const { degraded, movedTo } = current;
      if (result === 'dead') keeping.bury(name, entry);
      else keeping.remove(name);
      turns.forget(name);
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
    turns.tried(name);
    destination.sending();
    const outcome = await channel.deliver(message, within);
    destination.answered(outcome, (failures) => pauseAfter(failures, clock.random()));
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
      turns.untried(current.name);
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
        end('dead', { ...answered, attempts: entry.attempts + 1, problem });
        return;
      }
      current.messages[entry.sent] = other;
      current.degraded = complaint;
      turns.untried(current.name);
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
      turns.untried(current.name);
      save(current.name, { ...failed, next_at: null });
      return;
    }
    const next = clock.now() + pauseAfter(attempts, clock.random());
    save(current.name, {
      ...failed,
      next_at: new Date(next).toISOString(),
      maybe_duplicate: entry.maybe_duplicate || mayHaveArrived(problem),
    });
  };

  return {
    async bring(patience, ended) {
      turns.begin();
      for (;;) {
        const next = turns.choose(patience.eager === true);
        if (!patience.goOn(next) || !next) return;
        if (next.wait > 0) await clock.sleep(Math.min(Math.ceil(next.wait), SLICE));
        else await exchange(next.name, ended, patience.within?.());
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
