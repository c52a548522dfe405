/** Keeping a mirror small: a fetch leaves what only earlier commits have, and nobody asks for it again. */
import { join } from 'node:path';
import { readIfThere } from '@runner/common/files/read';
import type { Io } from '@runner/common/foundation/io';
import { git } from './git.ts';

/** So many commits lie in a mirror before it is tidied: git lists each that was fetched in `shallow`. */
const COMMITS = 20;
/** Largest list that is read, in bytes: some twenty thousand commits. */
const LIST_MAX = 1_048_576;
/** What is younger stays: a git that outlived its deploy must not take it from the next one. */
const AGE = '1.hour.ago';

/**
 * Packs what the refs of the mirror lead to and drops the rest, under the app's lock. Returns why that
 * could not be done, if so: a deploy never fails of it.
 */
export async function tidyMirror(io: Io, mirror: string): Promise<string | undefined> {
  const list = readIfThere(join(mirror, 'shallow'), LIST_MAX)?.toString('latin1') ?? '';
  if (list.split('\n').length <= COMMITS) return undefined;
  // Without looking for new deltas: it is about space that grows, not about the last kilobyte.
  const args = ['-c', 'pack.window=0', 'gc', '--quiet', `--prune=${AGE}`];
  const { status, stderr, timedOut } = await git(io, args, { cwd: mirror });
  if (status === 0) return undefined;
  return timedOut ? 'git took too long' : stderr.trim() || `git ended with ${status}`;
}
