/** File systems that are mounted inside of a folder: what is in them belongs to something else. */
import { readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { orElse } from '../foundation/attempt.ts';

/** The first mount point below a path, which itself may be one. Throws an error of the system. */
export function mountedBelow(path: string): string | undefined {
  const folder = join(realpathSync(dirname(path)), basename(path));
  const table = orElse(() => readFileSync('/proc/self/mountinfo', 'utf8'), '');
  return table
    .split('\n')
    .map((line) => unescaped(line.split(' ')[4] ?? ''))
    .find((mount) => mount.startsWith(`${folder}/`));
}

/** The kernel writes blanks, line ends and backslashes as `\040`. */
const unescaped = (text: string) =>
  text.replace(/\\([0-7]{3})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 8)));
