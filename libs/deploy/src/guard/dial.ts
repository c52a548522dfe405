/** Connecting to a host that was allowed: its name is looked up once, and private addresses are left out. */
import { type LookupAddress, promises } from 'node:dns';
import { BlockList, connect, type Socket } from 'node:net';

/** For one address, in ms. */
const PATIENCE = 10_000;

/** Addresses of this machine, of private networks, and of what only some networks route. */
const PRIVATE = new BlockList();
const IPV4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.168.0.0/16 198.18.0.0/15 224.0.0.0/4 240.0.0.0/4';
// Those that contain an IPv4 address, too. BlockList itself holds ::ffff:a.b.c.d against the rules for IPv4.
const IPV6 =
  '::/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 2001::/32 2002::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8';
for (const [list, family] of [
  [IPV4, 'ipv4'],
  [IPV6, 'ipv6'],
] as const)
  for (const net of list.split(' ')) {
    const [address = '', bits] = net.split('/');
    PRIVATE.addSubnet(address, Number(bits), family);
  }

/** Whether an address is private, of this machine, of a cloud's metadata, or multicast. */
export function isPrivateAddress({ address, family }: LookupAddress): boolean {
  return PRIVATE.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** All addresses of a name. Rejects if it has no address. */
export type Lookup = (host: string) => Promise<readonly LookupAddress[]>;

export const lookupAll: Lookup = (host) => promises.lookup(host, { all: true });

/** Addresses that are used for a host; null if it has private ones only. Rejects if it has none. */
export async function addressesFor(lookup: Lookup, host: string, mayBePrivate: boolean) {
  const all = await lookup(host);
  const usable = all.filter((each) => mayBePrivate || !isPrivateAddress(each));
  return usable.length > 0 ? usable : null;
}

/** Connects to the first address that answers. Rejects with the error of the last. */
export async function dial(addresses: readonly LookupAddress[], port: number): Promise<Socket> {
  let last: unknown;
  for (const { address } of addresses) {
    try {
      return await connected(address, port);
    } catch (error) {
      last = error;
    }
  }
  throw last;
}

function connected(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true, allowHalfOpen: true });
    const timer = setTimeout(() => socket.destroy(new Error('no answer')), PATIENCE);
    socket.once('error', reject);
    socket.once('close', () => clearTimeout(timer));
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.off('error', reject);
      socket.on('error', () => {});
      resolve(socket);
    });
  });
}
