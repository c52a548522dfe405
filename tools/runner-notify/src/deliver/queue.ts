/**
 * The waiting entries of one channel as this process knows them, and which is next: the oldest that
 * can be sent, in order within each deploy. Entries are on disk, or in memory when it cannot be
 * written.
 */
import { kindOf, type LogRecord, projectOf } from '@runner/common/audit/record';
import type { DestinationName } from '@runner/common/config/channels';
import { isTelemetry } from '@runner/common/config/telemetry-schema';
import { failureIn } from '@runner/common/foundation/attempt';
import type { Failure } from '@runner/common/foundation/failure';
import type { QueueEntry } from '../spool/entry.ts';
import type { EntryName } from '../spool/names.ts';
import type { Spool } from '../spool/spool.ts';
import type { Clock } from './clock.ts';
import type { Wait } from './destination.ts';
import { PAUSE_MAX } from './retry.ts';

/** The next entry, and the wait for it. */
export interface Next extends Wait {
  readonly name: EntryName;
}

export interface QueueOptions {
  readonly spool: Spool;
  readonly channel: DestinationName;
  readonly clock: Clock;
  note(text: string): void;
}

/** Kept in memory, so that the entry need not be read again. */
interface Position {
  /**
   * Entries of one deploy, or about one trouble, stay in order; at the code host those of one app, whose last status
   * counts.
   */
  readonly deploy: string | symbol;
  readonly nextAt: number;
}

/** At most a tenth of the time goes into listing the spool: otherwise a big backlog takes quadratic time. */
const LISTING_SHARE = 10;

/** The entries of one channel. Lists the spool when it is first used, and again for entries of other processes. */
export class Queue {
  /** Entries that are only in memory, lost when the process ends. */
  readonly unsaved = new Map<EntryName, QueueEntry>();
  readonly #options: QueueOptions;
  /** Oldest first; undefined: not read yet. */
  readonly #known = new Map<EntryName, Position | undefined>();
  readonly #tried = new Set<EntryName>();
  #listAgainAt = 0;
  #failureNoted = false;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Starts a run: no entry counts as tried. */
  begin(): void {
    this.#tried.clear();
    this.#listIfDue();
  }

  /** The oldest entry that can be sent; a later one of a deploy waits for the earlier. `eager`: each once. */
  choose(common: Wait, eager: boolean): Next | undefined {
    const next = this.#pick(common, eager);
    if (next && next.wait <= common.wait) return next;
    // A new entry may be sendable at once.
    return this.#listIfDue() ? this.#pick(common, eager) : next;
  }

  read(name: EntryName): QueueEntry | 'damaged' | undefined {
    return this.unsaved.get(name) ?? this.#options.spool.read(name);
  }

  /** Queues a new entry, in memory when it cannot be written: then returns why. */
  add(name: EntryName, entry: QueueEntry): Failure | undefined {
    this.#known.set(name, position(entry, this.#options.clock.now()));
    const failure = failureIn(() => this.#options.spool.save(name, entry));
    if (failure) this.unsaved.set(name, entry);
    return failure;
  }

  /** Saves a known entry. A failure is reported once: the message may be repeated. */
  save(name: EntryName, entry: QueueEntry): void {
    const { spool, channel, clock, note } = this.#options;
    this.#known.set(name, position(entry, clock.now()));
    if (this.unsaved.has(name)) {
      this.unsaved.set(name, entry);
      return;
    }
    const failure = failureIn(() => spool.update(name, entry));
    if (failure && !this.#failureNoted)
      note(`${channel}: ${failure.message}: a message may be repeated`);
    this.#failureNoted ||= failure !== undefined;
  }

  /** Removes a delivered entry. */
  remove(name: EntryName): void {
    if (!this.unsaved.delete(name)) this.#options.spool.remove(name);
    this.#known.delete(name);
  }

  /** Moves an entry to the dead; undefined: unchanged. */
  bury(name: EntryName, entry: QueueEntry | undefined): void {
    const { spool, channel, note } = this.#options;
    const failure = this.unsaved.delete(name)
      ? undefined
      : failureIn(() => spool.move(name, entry, 'dead'));
    if (failure) {
      note(`${channel}: ${failure.message}: the message is dropped`);
      spool.remove(name);
    }
    this.#known.delete(name);
  }

  /** Another process took it out of the queue. */
  forget(name: EntryName): void {
    this.#known.delete(name);
  }

  /** In this run an eager choice passes over it. */
  tried(name: EntryName): void {
    this.#tried.add(name);
  }

  #listIfDue(): boolean {
    const { clock, spool, channel } = this.#options;
    const start = clock.elapsed();
    if (start < this.#listAgainAt) return false;
    const before = new Map(this.#known);
    this.#known.clear();
    const names = spool.names(channel);
    const all = this.unsaved.size === 0 ? names : [...this.unsaved.keys(), ...names].sort();
    for (const name of all) this.#known.set(name, before.get(name));
    const end = clock.elapsed();
    this.#listAgainAt = end + LISTING_SHARE * (end - start);
    return true;
  }

  #pick(common: Wait, eager: boolean): Next | undefined {
    const deploys = new Set<Position['deploy']>();
    let best: Next | undefined;
    for (const [name, value] of this.#known) {
      const found = value ?? this.#positionOf(name);
      if (!found || deploys.has(found.deploy)) continue;
      deploys.add(found.deploy);
      if (eager && this.#tried.has(name)) continue;
      const own = eager ? 0 : found.nextAt - this.#options.clock.now();
      const next: Next =
        own > common.wait
          ? { name, wait: own, why: 'backoff', problem: undefined }
          : { name, ...common };
      if (!best || next.wait < best.wait) best = next;
      if (best.wait <= common.wait) break;
    }
    return best;
  }

  #positionOf(name: EntryName): Position | undefined {
    const { spool, channel, clock, note } = this.#options;
    const entry = this.read(name);
    if (entry === 'damaged') {
      note(`${channel}: the message ${spool.path(name)} is damaged; it was moved to dead/`);
      this.bury(name, undefined);
    }
    if (entry === undefined || entry === 'damaged') {
      this.#known.delete(name);
      return undefined;
    }
    const found = position(entry, clock.now());
    this.#known.set(name, found);
    return found;
  }
}

/**
 * Of the code host the events of an app keep their order, of what records deploys all of them. A pause longer
 * than PAUSE_MAX was set by another clock.
 */
function position({ channel, event, next_at, left }: QueueEntry, now: number): Position {
  const nextAt = next_at === null ? 0 : Math.min(Date.parse(next_at), now + PAUSE_MAX);
  // The others have it, and get the next ones meanwhile.
  if (left !== null) return { deploy: Symbol(), nextAt };
  if (isTelemetry(channel)) return { deploy: channel, nextAt };
  return { deploy: String(channel === 'code-host' ? event.project : subjectOf(event)), nextAt };
}

/** Changes of state that begin or end something, and the field that names it; those of a watch name their deploy. */
const SUBJECTS: Readonly<Record<string, string>> = {
  AppDown: 'instance',
  AppUp: 'instance',
  ApprovalWanted: 'plan',
  JobFailed: 'job',
  JobMissed: 'job',
  JobRecovered: 'job',
  PlanApproved: 'plan',
  PlanExpired: 'plan',
  TokenEnding: 'fingerprint',
  TokenRenewed: 'fingerprint',
};

/** The deploy or the trouble that an event is about: the last message has to be about how it is now. */
function subjectOf(event: LogRecord): unknown {
  const field = SUBJECTS[String(kindOf(event))];
  return field ? [projectOf(event), field, event[field]].join(' ') : event.deploy_id;
}
