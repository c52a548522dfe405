/** The entries of one channel while they are delivered: on disk, or in memory where the disk takes none. */

import type { ChannelName } from '@runner/common/config/settings';
import { Failure } from '@runner/common/foundation/failure';
import type { Entry } from './entry.ts';
import type { EntryName } from './names.ts';
import type { Spool } from './spool.ts';

/** Where the entries of one channel are. */
export interface Keeping {
  /** Oldest first. */
  names(): EntryName[];
  read(name: EntryName): Entry | 'damaged' | undefined;
  /** What cannot be written is told once: a message may be repeated then. */
  save(name: EntryName, entry: Entry): void;
  remove(name: EntryName): void;
  /** Where it lies, or would. */
  path(name: EntryName): string;
  /** Puts an entry aside; undefined: as it lies there. */
  bury(name: EntryName, entry: Entry | undefined): void;
}

/** `unsaved` are entries that could not be written: they are in memory alone, and gone when it ends. */
export function keepingOf(
  spool: Spool,
  channel: ChannelName,
  unsaved: Map<EntryName, Entry>,
  note: (text: string) => void,
): Keeping {
  let told = false;
  return {
    names: () => [...unsaved.keys(), ...spool.names(channel)].sort(),
    read: (name) => unsaved.get(name) ?? spool.read(name),
    save(name, entry) {
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
        if (!told) note(`${channel}: ${error.message}: a message may be repeated`);
        told = true;
      }
    },
    remove(name) {
      if (!unsaved.delete(name)) spool.remove(name);
    },
    path: (name) => spool.path(name),
    bury(name, entry) {
      try {
        if (!unsaved.delete(name)) spool.move(name, entry, 'dead');
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        note(`${channel}: ${error.message}: the message is dropped`);
        spool.remove(name);
      }
    },
  };
}
