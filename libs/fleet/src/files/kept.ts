/** The files that `init` makes, and those that are kept for a while. */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { namesIn, readTextIfThere, removeIfThere } from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';

/** Removes the files of a folder that are older than `age`, in ms. */
export function removeOld(folder: string, now: Date, age: number): void {
  for (const name of namesIn(folder)) {
    const path = join(folder, name);
    const { mtime = now } = lstatSync(path, { throwIfNoEntry: false }) ?? {};
    if (now.getTime() - mtime.getTime() > age) removeIfThere(path);
  }
}

/** Bytes. */
const MAX = 1_048_576;
/** YAML is the same with other quotes. */
const bare = (line: string) => line.replaceAll(/["'\s]/g, '');

/** Writes a file unless it is there; then it notes the lines that the one there does not have. */
export function writeUnlessThere(
  path: string,
  text: string,
  { note, mode }: { readonly note: (text: string) => void; readonly mode?: number },
): 'created' | 'kept' {
  const there = readTextIfThere(path, MAX)?.split('\n').map(bare);
  if (!there) writeWhole(path, text, mode);
  const other = there ? text.split('\n').filter((line) => line && !there.includes(bare(line))) : [];
  if (other.length > 0)
    note(`${path} is kept, and does not have: ${other.map((line) => line.trim()).join(', ')}`);
  return there ? 'kept' : 'created';
}
