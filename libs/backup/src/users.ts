/** The users and groups of this machine: owners are stored by name. */
import { readTextIfThere } from '@runner/common/files/read';

export interface User {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

export type Group = Omit<User, 'uid'>;

/** The users in /etc/passwd; none if it does not exist. */
export function localUsers(): User[] {
  return rowsOf('/etc/passwd').map(([name = '', , uid, gid]) => ({
    name,
    uid: Number(uid),
    gid: Number(gid),
  }));
}

/** The groups in /etc/group; none if it does not exist. */
export function localGroups(): Group[] {
  return rowsOf('/etc/group').map(([name = '', , gid]) => ({ name, gid: Number(gid) }));
}

function rowsOf(path: string): string[][] {
  const lines = (readTextIfThere(path, 16_777_216) ?? '').split('\n');
  return lines.map((line) => line.split(':')).filter(([name]) => name !== '');
}
