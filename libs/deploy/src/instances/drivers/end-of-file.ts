/** What a program printed last into a file of its own. */
import { fstatSync } from 'node:fs';
import { readRange } from '@runner/common/files/read';

/**
 * What an open file has got since it had the size `from`, at most its last `most` bytes. Then it begins
 * with a whole line: half a secret would not be recognised.
 */
export function endOfFile(fd: number, from: number, most: number): string {
  const { size } = fstatSync(fd);
  const begin = Math.max(from, size - most);
  const text = readRange(fd, begin, Math.max(0, size - begin)).toString('utf8');
  return begin > from ? text.slice(text.indexOf('\n') + 1) : text;
}
