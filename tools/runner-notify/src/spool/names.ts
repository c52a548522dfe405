/** The file names of waiting messages. */

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DESTINATION_NAMES, type DestinationName } from '@runner/common/config/channels';
import { namesIn } from '@runner/common/files/read';
import { systemCode, systemFailure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';

/** Sorts by time; the same in the queue and in dead/. */
export type EntryName = `${string}.${DestinationName}.json`;

const NAME = new RegExp(`^([0-9a-z]{9}-[0-9a-f]{4})\\.(${DESTINATION_NAMES.join('|')})\\.json$`);

/** What is known of how far the audit log was read for `telemetry`. */
export const cursorFile = ({ notifySpool }: Paths) => join(notifySpool, 'telemetry.json');

/** The entries in a folder, oldest first, of one channel or of all; empty without the folder. */
export function entryNames(folder: string, channel?: DestinationName): EntryName[] {
  try {
    statSync(`${folder}/.`);
  } catch (error) {
    // If it is not a folder, saving an entry reports that.
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return [];
    throw systemFailure(error, `read the folder ${folder}`, 'file_unreadable');
  }
  const end = channel === undefined ? '' : `.${channel}.json`;
  // No match objects: for 100,000 names they would need too much memory.
  return namesIn(folder).filter((name): name is EntryName => name.endsWith(end) && NAME.test(name));
}

/** The id of an entry in `runner notify queue`. */
export function idOf(name: EntryName): string {
  return name.slice(0, name.indexOf('.'));
}

export function channelOf(name: EntryName): DestinationName {
  return name.slice(name.indexOf('.') + 1, -'.json'.length) as DestinationName;
}

/** The milliseconds at the start of a name; 0 without one. */
export function timeOfName(name: EntryName | undefined): number {
  return name === undefined ? 0 : Number.parseInt(name.slice(0, 9), 36);
}

/** A name for a time in milliseconds; `chance` distinguishes names of the same millisecond. */
export function entryName(time: number, chance: number, channel: DestinationName): EntryName {
  const end = Math.floor(chance * 65_536).toString(16);
  const id = `${time.toString(36).padStart(9, '0')}-${end.padStart(4, '0')}`;
  return `${id}.${channel}.json`;
}
