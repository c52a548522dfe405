/** What a user may do with files, by their modes and access lists. */
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemCode } from '@runner/common/foundation/failure';
import { ask } from './drivers/ask.ts';

/** A user with all its groups. */
export interface Identity {
  readonly uid: number;
  readonly groups: readonly number[];
}

/** A folder and those above it that a user may not enter, the outermost first. */
export function closedAbove(user: Identity, folder: string): string[] {
  const above: string[] = [];
  for (let path = folder; path !== '/'; path = dirname(path)) above.push(path);
  return above.reverse().filter((path) => !may(user, path, 0o1));
}

/** Whether a user has a right by mode or access list; what cannot be looked at is not in the way. */
export function may({ uid, groups }: Identity, path: string, right: number): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found) return true;
    const shift = found.uid === uid ? 6 : groups.includes(found.gid) ? 3 : 0;
    if (((found.mode >> shift) & right) !== 0) return true;
    return accessList(path).some(({ kind, id, rights }) => {
      const isTheirs = kind === 'user' ? id === uid : groups.includes(id);
      return isTheirs && (rights & right) !== 0;
    });
  } catch (error) {
    if (systemCode(error) === 'EACCES') return true;
    throw error;
  }
}

/** Whether the access list of a path gives another user or group a right. */
export function isShared(path: string, right: number): boolean {
  return accessList(path).some(({ rights }) => (rights & right) !== 0);
}

/** The named users and groups in an access list, with their effective rights as in a mode. */
function accessList(path: string) {
  const args = ['--numeric', '--omit-header', '--absolute-names', '--', path];
  const { stdout } = ask('getfacl', args, { env: process.env as Record<string, string> });
  // The effective rights stand in a comment if the mask takes some away.
  const entries = stdout.matchAll(/^(user|group):(\d+):(...)(?:\s+#effective:(...))?$/gm);
  return [...entries].map(([, kind, id, granted = '---', effective = granted]) => ({
    kind,
    id: Number(id),
    rights: [...effective].reduce((sum, sign) => sum * 2 + (sign === '-' ? 0 : 1), 0),
  }));
}
