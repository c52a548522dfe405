/** The sockets of a network namespace and who holds them, from /proc. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { isEnding } from '@runner/common/files/process';
import { orElse } from '@runner/common/foundation/attempt';
import { systemCode } from '@runner/common/foundation/failure';

export interface Listener {
  /** As in the links of /proc/PID/fd. */
  readonly socket: string;
  readonly uid: number;
}

/** State of a listening socket in /proc/net/tcp. */
const LISTEN = '0A';

interface InetSocket extends Listener {
  readonly port: number;
  /** Local address and port as the kernel writes them, of IPv4: `0100007F:1F90`. */
  readonly local: string;
  /** Those of the other side. */
  readonly far: string;
  /** Two hexadecimal digits. */
  readonly state: string;
}

/** The sockets of a protocol in the network namespace of a process, by default in ours. */
export function socketsOf(protocol: 'tcp' | 'udp', pid: number | 'self' = 'self'): InetSocket[] {
  return [protocol, `${protocol}6`].flatMap((table) =>
    tableOf(table, pid).map((row) => {
      const [, local = '', far = '', state = '', , , , uid, , inode] = row.trim().split(/\s+/);
      const port = Number.parseInt(local.slice(local.lastIndexOf(':') + 1), 16);
      return { socket: `socket:[${inode}]`, uid: Number(uid), port, local, far, state };
    }),
  );
}

/** The rows of a table in /proc/PID/net; empty if the kernel does not have it, as without IPv6. */
export function tableOf(name: string, pid: number | 'self' = 'self'): string[] {
  const read = () => readFileSync(`/proc/${pid}/net/${name}`, 'latin1').split('\n').slice(1);
  return orElse(read, []);
}

/** The sockets that listen on this machine, on any address. */
export function allListeners(): InetSocket[] {
  return socketsOf('tcp').filter(({ state }) => state === LISTEN);
}

/** Those of a port. */
export function listenersOn(port: number): Listener[] {
  return allListeners().filter((each) => each.port === port);
}

/** The sockets on which one of these processes listens, unless it hides them. */
export function heldBy(pids: readonly number[]): InetSocket[] {
  return allListeners().filter((each) => pids.some((pid) => holds(pid, [each])));
}

export function portsHeldBy(pids: readonly number[]): number[] {
  return [...new Set(heldBy(pids).map(({ port }) => port))];
}

/** `0100007F:1F90`, in words of 32 bits of this machine, as `127.0.0.1:8080`. */
export function addressOf({ local, port }: InetSocket): string {
  const bytes = Buffer.from(local.slice(0, local.lastIndexOf(':')), 'hex').swap32();
  if (bytes.length === 4) return `${bytes.join('.')}:${port}`;
  const groups = bytes.toString('hex').replace(/.{4}(?=.)/g, '$&:');
  return `${new URL(`http://[${groups}]`).hostname}:${port}`;
}

/** Whether a process holds one of these sockets; undefined if it runs and its descriptors may not be read. */
export function holds(pid: number, listeners: readonly Listener[]): boolean | undefined {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).some((name) => {
      const link = linkIfThere(`${folder}/${name}`);
      return listeners.some(({ socket }) => socket === link);
    });
  } catch (error) {
    // The kernel refuses this for a process that is ending, too.
    const isRefused = ['EACCES', 'EPERM'].includes(systemCode(error) ?? '');
    return isRefused && !isEnding(pid) ? undefined : false;
  }
}

/** Where a descriptor leads to; undefined if it has been closed meanwhile. */
function linkIfThere(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
