/** Keeping a mirror usable and small. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isThere, namesIn, removeIfThere } from '@runner/common/files/read';
import { onFailure, orElse } from '@runner/common/foundation/attempt';
import type { Io } from '@runner/common/foundation/io';
import { endWithVariable } from '../run/processes.ts';
import { git, MARKER } from './git.ts';

/** Size of the file `shallow`, in which git lists each fetched commit, before the mirror is tidied: of 20 commits. */
const LIST_MAX = 820;
/** Younger objects stay: a git that outlived its deploy must not remove what the next one needs. */
const AGE = '1.hour.ago';

/** `packMirror`, once enough was fetched since. */
export async function tidyMirror(io: Io, mirror: string): Promise<string | undefined> {
  const size = orElse(() => statSync(join(mirror, 'shallow')).size, 0);
  return size < LIST_MAX ? undefined : packMirror(io, mirror);
}

/**
 * Packs what the refs of the mirror reach and drops the rest, under the app's lock. Returns why that
 * failed, if it did: it never fails a deploy.
 */
export async function packMirror(io: Io, mirror: string): Promise<string | undefined> {
  // Without searching for new deltas: growth matters, not the last kilobyte.
  const args = ['-c', 'pack.window=0', 'gc', '--quiet', `--prune=${AGE}`];
  const ended = await git(io, args, { cwd: mirror }).catch(onFailure(({ message }) => message));
  if (typeof ended === 'string') return ended;
  const { status, stderr, timedOut } = ended;
  if (status === 0) return undefined;
  return timedOut ? 'git took too long' : stderr.trim() || `git ended with ${status}`;
}

/** Removes the lock files of a git that was killed. Called under the app's lock. */
export function removeStaleLocks(mirror: string): void {
  const refs = isThere(join(mirror, 'refs'))
    ? readdirSync(join(mirror, 'refs'), { recursive: true, encoding: 'utf8' })
    : [];
  const files = [...namesIn(mirror), ...refs.map((name) => join('refs', name))];
  const locks = files.filter((name) => name.endsWith('.lock'));
  if (locks.length === 0) return;
  // A git that outlived its runner may still hold them.
  endWithVariable(MARKER, mirror);
  for (const name of locks) removeIfThere(join(mirror, name));
}
