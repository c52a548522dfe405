/** The end of a program's output file. */
import { fstatSync } from 'node:fs';
import { readRange } from '@runner/common/files/read';

/**
 * What was written to an open file since it had the size `from`, up to its last `most` bytes. If it is
 * cut, it begins with a whole line: half a secret would not be recognised.
 */
export function endOfFile(fd: number, from: number, most: number): string {
  const { size } = fstatSync(fd);
  const begin = Math.max(from, size - most);
  const text = readRange(fd, begin, Math.max(0, size - begin)).toString('utf8');
  return begin > from ? text.slice(text.indexOf('\n') + 1) : text;
}
