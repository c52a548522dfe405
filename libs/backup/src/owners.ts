/** Whose the restored files are. */
import { type Folder, inFolder } from '@runner/common/files/tree';
import type { TarEntry } from './tar.ts';
import { localGroups, localUsers, type User } from './users.ts';

/** Names of a user and a group; the root's if they are empty. */
export type Owner = Pick<TarEntry, 'owner' | 'group'>;

/** What belongs to the owner of the root. */
export const ROOTS: Owner = { owner: '', group: '' };

/** Sets owners; without root rights everything belongs to this process. */
export interface Owners {
  /** `user bob`, `group media`: what is missing here, or may not be set. */
  readonly unset: Set<string>;
  /** Calls `chown` with who is to own something. */
  give(owner: Owner, chown: (uid: number, gid: number) => void): void;
}

/**
 * Sets the owner and group of the same names, or else those of the root. What belonged to `was`, the owner
 * of the root that was backed up, belongs to the owner of this one, and a new root to that user, if it exists.
 */
export function ownersFor(root: Folder, was: string, isNew: boolean): Owners {
  const [euid, egid] = [process.geteuid?.() ?? 0, process.getegid?.() ?? 0];
  const users = new Map(localUsers().map((user) => [user.name, user]));
  const groups = new Map(localGroups().map(({ name, gid }) => [name, gid]));
  const first = isNew ? users.get(was) : undefined;
  if (euid === 0 && first) giveRoot(root, first);
  const { uid, gid } = root.stats;
  const unset = new Set<string>();
  const give: Owners['give'] = (named, chown) => {
    const [owner, group] = [named.owner, named.group ?? ''].map((name) =>
      name === was ? '' : name,
    ) as [string, string];
    const user = users.get(owner);
    const groupId = groups.get(group);
    const wanted = { uid: user?.uid ?? uid, gid: groupId ?? user?.gid ?? gid };
    if (euid === 0) chown(wanted.uid, wanted.gid);
    const is = euid === 0 ? wanted : { uid: euid, gid: egid };
    if (owner !== '' && is.uid !== user?.uid) unset.add(`user ${owner}`);
    if (group !== '' && is.gid !== groupId) unset.add(`group ${group}`);
  };
  return { unset, give };
}

/** Gives a new root, in which there is nothing but our lock. */
function giveRoot(root: Folder, { uid, gid }: User): void {
  root.chown(uid, gid);
  inFolder(root.inner('locks'), (locks) => {
    locks.chown(uid, gid);
    for (const name of locks.names()) locks.chownEntry(name, uid, gid);
  });
}
