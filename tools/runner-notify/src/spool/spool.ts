/** The folder `spool/notify`: waiting messages, and in `dead/` those that were given up. */

import { closeSync, lstatSync, openSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DestinationName } from '@runner/common/config/channels';
import { holderFor, type Lock, requireLock, takeLock } from '@runner/common/files/lock';
import { isThere, makeFolder, readIfThere, removeIfThere } from '@runner/common/files/read';
import { sweepStrays, syncFolder, writeWhole } from '@runner/common/files/write';
import { orElse } from '@runner/common/foundation/attempt';
import { Failure, systemCode, systemFailure } from '@runner/common/foundation/failure';
import type { Paths, Server } from '@runner/common/foundation/paths';
import { parseEntry, type QueueEntry } from './entry.ts';
import { channelOf, type EntryName, entryNames } from './names.ts';

/** Largest file that is read, in bytes: the longest input line, escaped. */
const ENTRY_MAX = 33_554_432;
/** How many messages that were given up are kept for each channel. */
const DEAD_MAX = 1_000;

/** The two places of an entry. */
export type SpoolPlace = 'queue' | 'dead';

export function stateFile(paths: Paths, channel: DestinationName): string {
  return join(paths.notifySpool, `${channel}.json`);
}

/** Only the process that holds the kernel's lock sends. No app's name starts with a dot. */
function lockFile(paths: Paths, channel: DestinationName | 'telemetry'): string {
  return join(paths.locksDir, `.notify-${channel}.lock`);
}

/** The process that takes a lock; `title` is that of its command. */
export type Locking = Server & { readonly title: string };

/** Takes the lock of a channel, or of the reader of the log; undefined when another process holds it. */
export function lockChannel(by: Locking, channel: DestinationName | 'telemetry'): Lock | undefined {
  return takeLock(lockFile(by.paths, channel), 0, holderFor(by.io, by.title));
}

/** Waits up to `seconds` for the lock of a channel. Throws `locked`, naming its holder, and `guard_tripped`. */
export function waitForChannel(by: Locking, channel: DestinationName, seconds: number): Lock {
  return requireLock(
    lockFile(by.paths, channel),
    `${channel}'s queue`,
    seconds,
    holderFor(by.io, by.title),
  );
}

/** Whether an unreadable file may still be an entry. */
function mayBeEntry(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.size <= ENTRY_MAX;
}

/** The entries on disk. Creates no folder until an entry is saved. */
export class Spool {
  readonly #folders: Readonly<Record<SpoolPlace, string>>;

  constructor({ notifySpool }: Paths) {
    this.#folders = { queue: notifySpool, dead: join(notifySpool, 'dead') };
  }

  /** The file of an entry. */
  path(name: EntryName, place: SpoolPlace = 'queue'): string {
    return join(this.#folders[place], name);
  }

  /** Oldest first. */
  names(channel?: DestinationName, place: SpoolPlace = 'queue'): EntryName[] {
    return entryNames(this.#folders[place], channel);
  }

  has(name: EntryName, place?: SpoolPlace): boolean {
    return isThere(this.path(name, place));
  }

  /** Undefined when it is gone; `damaged` when the file is not an entry. */
  read(name: EntryName, place?: SpoolPlace): QueueEntry | 'damaged' | undefined {
    const path = this.path(name, place);
    try {
      const bytes = readIfThere(path, ENTRY_MAX);
      return bytes && (parseEntry(bytes, channelOf(name)) ?? 'damaged');
    } catch (error) {
      // A link, folder, pipe or huge file is damaged; an entry without read permission is not.
      if (!(error instanceof Failure) || mayBeEntry(path)) throw error;
      return 'damaged';
    }
  }

  /** Saves an entry that waits. One that is dropped meanwhile does not come back. */
  update(name: EntryName, entry: QueueEntry): void {
    if (!this.has(name)) return;
    this.save(name, entry);
    if (this.isDropped(name)) this.remove(name);
  }

  /** Removes an entry for good, and first leaves a mark for a process that is just saving it. */
  drop(name: EntryName, place: SpoolPlace): void {
    // The mark is there, or the disk is full: the entry goes anyway.
    if (place === 'queue')
      orElse(() => closeSync(openSync(this.#mark(name), 'wx', 0o600)), undefined);
    this.remove(name, place);
  }

  isDropped(name: EntryName): boolean {
    return isThere(this.#mark(name));
  }

  /** Named like a temporary file: tidy() removes it. */
  #mark(name: EntryName): string {
    return join(this.#folders.queue, `.${name}.000000000000.tmp`);
  }

  /** Writes an entry durably. Throws `disk_full` or `not_writable`. */
  save(name: EntryName, entry: QueueEntry, place: SpoolPlace = 'queue'): void {
    makeFolder(this.#folders[place], 0o700);
    writeWhole(this.path(name, place), `${JSON.stringify(entry)}\n`);
  }

  remove(name: EntryName, place?: SpoolPlace): void {
    const path = this.path(name, place);
    // A folder may have been put in its place.
    if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) removeIfThere(path);
    else rmSync(path, { recursive: true });
  }

  /** Writes the entry and moves it to the other place. */
  move(name: EntryName, entry: QueueEntry | undefined, to: SpoolPlace): void {
    const from = to === 'dead' ? 'queue' : 'dead';
    const path = this.path(name, from);
    try {
      // Written before the move: after a crash the entry is in one of the two places, with its problem.
      if (entry && from === 'queue') this.update(name, entry);
      else if (entry && this.has(name, from)) this.save(name, entry, from);
      makeFolder(this.#folders[to], 0o700);
      renameSync(path, this.path(name, to));
      for (const place of [to, from] as const) syncFolder(this.#folders[place]);
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw systemFailure(error, `move ${path}`);
    }
  }

  /** Removes leftovers of killed writers and surplus dead entries; under the channel's lock. */
  tidy(channel: DestinationName, now: Date): void {
    for (const folder of Object.values(this.#folders))
      if (isThere(`${folder}/.`)) sweepStrays(folder, now);
    for (const name of this.names(channel, 'dead').slice(0, -DEAD_MAX)) this.remove(name, 'dead');
  }
}
