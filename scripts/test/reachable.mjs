import { chmodSync, cpSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * A folder with the built executables that other users can enter, as whom some tests run them: the given one or,
 * in a checkout that only its owner can enter, a copy that is removed when this process ends.
 */
export function reachable(dist) {
  for (let folder = dist; (statSync(folder).mode & 0o001) !== 0; folder = dirname(folder)) {
    if (folder === dirname(folder)) return dist;
  }
  const top = mkdtempSync(join(tmpdir(), 'dist-'));
  chmodSync(top, 0o755);
  process.on('exit', () => rmSync(top, { recursive: true, force: true }));
  const copy = join(top, 'dist');
  cpSync(dist, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}
