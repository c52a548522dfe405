/** The users of this machine: owners are stored by name. */
import { readTextIfThere } from '@runner/common/files/read';

export interface User {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** The users in /etc/passwd; none if it does not exist. */
export function localUsers(): User[] {
  const lines = (readTextIfThere('/etc/passwd', 16_777_216) ?? '').split('\n');
  return lines.flatMap((line) => {
    const [name = '', , uid, gid] = line.split(':');
    return name === '' ? [] : [{ name, uid: Number(uid), gid: Number(gid) }];
  });
}
