/** The files that `init` makes. */
import { readTextIfThere } from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';

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
