/** Who is next among the entries of one channel: the oldest that can be sent, in order for each deploy. */
import type { ChannelName } from '@runner/common/config/settings';
import type { Problem } from '../channels/channel.ts';
import type { Clock } from '../clock.ts';
import type { Destination, Wait, WaitKind } from './destination.ts';
import type { Entry } from './entry.ts';
import type { Keeping } from './keeping.ts';
import type { EntryName } from './names.ts';
import { PAUSE_MAX } from './trouble.ts';

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

/** What is known of a waiting entry without reading it again. */
interface Known {
  readonly deploy: string;
  readonly nextAt: number;
}

/** Decides who is next. */
export interface Turns {
  /** Begins anew: nothing is known, nothing was tried. */
  begin(): void;
  /** The oldest entry that can be sent first; a later one of a deploy waits for the earlier. */
  choose(eager: boolean): Next | undefined;
  /** Takes note of an entry as it is now. */
  learn(name: EntryName, entry: Entry): void;
  /** It has left. */
  forget(name: EntryName): void;
  /** When eager, an entry is chosen once. */
  tried(name: EntryName): void;
  untried(name: EntryName): void;
}

/** The entries, and the destination that they go to. */
export interface TurnsOptions {
  readonly keeping: Keeping;
  readonly channel: ChannelName;
  readonly destination: Destination;
  readonly clock: Clock;
  note(text: string): void;
}

/** Reads each entry once, and those that come meanwhile. */
export function turnsFor({ keeping, channel, destination, clock, note }: TurnsOptions): Turns {
  /** What waits, oldest first; undefined: not read yet. */
  const known = new Map<EntryName, Known | undefined>();
  const triedNow = new Set<EntryName>();

  /** Looks into the folder again: with a thousand that wait this is no work for every message. */
  const refresh = () => {
    const names = keeping.names();
    const before = new Map(known);
    known.clear();
    for (const name of names) known.set(name, before.get(name));
  };

  const pick = (common: Wait, eager: boolean): Next | undefined => {
    const deploys = new Set<string>();
    let best: Next | undefined;
    for (const [name, value] of known) {
      const found = value ?? look(name);
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

  const look = (name: EntryName): Known | undefined => {
    const entry = keeping.read(name);
    if (entry === 'damaged') {
      note(`${channel}: the message ${keeping.path(name)} is damaged: it was put aside, in dead/`);
      keeping.bury(name, undefined);
    }
    if (entry === undefined || entry === 'damaged') {
      known.delete(name);
      return undefined;
    }
    const found = knownOf(entry, clock.now());
    known.set(name, found);
    return found;
  };

  return {
    begin() {
      known.clear();
      triedNow.clear();
    },
    choose(eager) {
      const common = destination.wait({ ignoreTrouble: eager });
      const next = pick(common, eager);
      if (next && next.wait <= common.ms) return next;
      // What has come meanwhile may go at once.
      refresh();
      return pick(common, eager);
    },
    learn: (name, entry) => void known.set(name, knownOf(entry, clock.now())),
    forget: (name) => void known.delete(name),
    tried: (name) => void triedNow.add(name),
    untried: (name) => void triedNow.delete(name),
  };
}

/** No pause is longer than PAUSE_MAX: one that seems to be was made by another clock. */
function knownOf({ event, next_at }: Entry, now: number): Known {
  const nextAt = next_at === null ? 0 : Math.min(Date.parse(next_at), now + PAUSE_MAX);
  return { deploy: String(event.deploy_id), nextAt };
}
