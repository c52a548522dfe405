/** Which processes listen on a TCP port, from /proc. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A socket that listens. */
export interface Listener {
  /** As in the links of /proc/PID/fd. */
  readonly socket: string;
  readonly uid: number;
}

/** State of a listening socket in /proc/net/tcp. */
const LISTEN = '0A';

/** The sockets that listen on a port of this machine, on any address. */
export function listenersOn(port: number): Listener[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return ['tcp', 'tcp6'].flatMap((table) => {
    let text: string;
    try {
      text = readFileSync(`/proc/net/${table}`, 'latin1');
    } catch {
      return []; // No IPv6.
    }
    const rows = text.split('\n').slice(1);
    return rows.flatMap((row) => {
      const [, local = '', , state, , , , uid, , inode] = row.trim().split(/\s+/);
      if (state !== LISTEN || !local.endsWith(suffix)) return [];
      return [{ socket: `socket:[${inode}]`, uid: Number(uid) }];
    });
  });
}

/** Whether a process holds one of these sockets; undefined if its descriptors may not be read. */
export function holds(pid: number, listeners: readonly Listener[]): boolean | undefined {
  const folder = `/proc/${pid}/fd`;
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return undefined;
  }
  return names.some((name) => {
    try {
      const link = readlinkSync(`${folder}/${name}`);
      return listeners.some(({ socket }) => socket === link);
    } catch {
      return false; // Closed meanwhile.
    }
  });
}
