/** The names of the files in which messages wait. */

import type { ChannelName } from '@runner/common/config/settings';
import { isThere, namesIn } from '@runner/common/files/read';
import { CHANNEL_NAMES } from '../channels/words.ts';

/** Where an entry lies: sorts by time, the same in the queue and among the dead. */
export type EntryName = `${string}.${ChannelName}.json`;

const NAME = new RegExp(`^([0-9a-z]{9}-[0-9a-f]{4})\\.(${CHANNEL_NAMES.join('|')})\\.json$`);

/** The entries in a folder, oldest first; none when there is no such folder. */
export function entryNames(folder: string): EntryName[] {
  // Something else may stand where the folder should be: who saves is told.
  if (!isThere(`${folder}/.`)) return [];
  return namesIn(folder).filter((name): name is EntryName => NAME.test(name));
}

/** What `runner notify queue` calls an entry. */
export function idOf(name: EntryName): string {
  return name.slice(0, name.indexOf('.'));
}

/** The channel in the name of an entry. */
export function channelOf(name: EntryName): ChannelName {
  return NAME.exec(name)?.[2] as ChannelName;
}

/** The milliseconds that a name begins with. */
export function timeOfName(name: EntryName): number {
  return Number.parseInt(name.slice(0, 9), 36);
}

/** A name for a time in milliseconds; two that are made in the same one differ by chance. */
export function entryName(time: number, chance: number, channel: ChannelName): EntryName {
  const end = Math.floor(chance * 65_536).toString(16);
  const id = `${time.toString(36).padStart(9, '0')}-${end.padStart(4, '0')}`;
  return `${id}.${channel}.json`;
}
