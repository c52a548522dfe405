/** Whether the proxies that run on this server can reach the slots of an app. */
import { readFileSync, readlinkSync, statSync } from 'node:fs';
import { liveLink, liveSlot, slotPaths, socketIn } from '@runner/common/apps/slots';
import type { Traffic } from '@runner/common/deploy-file/instance';
import { namesIn } from '@runner/common/files/read';
import { orElse } from '@runner/common/foundation/attempt';
import type { InstancePaths } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import { nameOf } from './reach.ts';
import { closedAbove, type Identity, may, userName } from './rights.ts';

const PROXIES = ['nginx', 'caddy', 'haproxy'];

/** A proxy's user, and what its process sees as `/`. */
export interface Proxy extends Identity {
  readonly program: string;
  /** undefined: only root may look. */
  readonly root: string | undefined;
}

/** Something that a proxy cannot do, and the command that changes it. */
export interface Obstruction {
  readonly words: string;
  readonly fix: string;
}

/** The proxies that run, one for each user; a master that runs as root is its workers' affair. */
export function proxies(): Proxy[] {
  const found = namesIn('/proc')
    .filter((name) => /^\d+$/.test(name) && PROXIES.includes(nameOf(Number(name))))
    .flatMap((pid) => proxyOf(pid) ?? []);
  const isFirst = ({ program, uid }: Proxy, index: number) =>
    found.findIndex((each) => each.program === program && each.uid === uid) === index;
  return found.filter((proxy, index) => proxy.uid !== 0 && isFirst(proxy, index));
}

/** undefined if it has ended. */
function proxyOf(pid: string): Proxy | undefined {
  const status = orElse(() => readFileSync(`/proc/${pid}/status`, 'utf8'), undefined);
  if (status === undefined) return undefined;
  const ids = (name: string) =>
    (new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1] ?? '').split(/\s+/).map(Number);
  const [, uid = 0] = ids('Uid');
  const [, gid = 0] = ids('Gid');
  const groups = [gid, ...ids('Groups')];
  const root = orElse(() => readlinkSync(`/proc/${pid}/root`), undefined);
  return { program: nameOf(Number(pid)), uid, groups, root };
}

/** What keeps the proxies of this server from the slots of an instance. */
export function obstructions(paths: InstancePaths, traffic: Traffic): Obstruction[] {
  // A command moves the requests: the proxy does not look into the folders.
  if (traffic.type === 'command') return [];
  return proxies().flatMap((proxy) => [
    ...closedFolders(paths, proxy),
    ...(traffic.type === 'socket' ? socketObstructions(paths, proxy) : []),
  ]);
}

/** What keeps every proxy of this server from the socket of an instance; empty if one reaches it. */
export function unreachableFor(
  all: readonly Proxy[],
  paths: InstancePaths,
  traffic: Traffic,
): Obstruction[] {
  if (traffic.type !== 'socket') return [];
  const found = all.map((proxy) => [
    ...closedFolders(paths, proxy),
    ...socketObstructions(paths, proxy),
  ]);
  return found.every((each) => each.length > 0) ? found.flat() : [];
}

function closedFolders(paths: InstancePaths, proxy: Proxy): Obstruction[] {
  const live = liveSlot(paths);
  const [closed] = closedAbove(proxy, slotPaths(paths, live).dir);
  if (closed === undefined) return [];
  return [
    {
      words: `${proxy.program} (${userName(proxy.uid)}) may not enter ${closed}`,
      fix: `chmod o+x ${word(closed)}`,
    },
  ];
}

function socketObstructions(paths: InstancePaths, proxy: Proxy): Obstruction[] {
  const { program, uid, root } = proxy;
  const path = socketIn(liveLink(paths));
  if (root !== undefined && root !== '/' && !path.startsWith(`${root}/`)) {
    const words = `${program} has its root in ${root} and cannot reach ${path}: remove chroot from its configuration`;
    return [{ words, fix: `grep -rn chroot /etc/${program}` }];
  }
  const isThere = statSync(path, { throwIfNoEntry: false });
  if (!isThere || may(proxy, path, 0o2)) return [];
  const words = `${program} (${userName(uid)}) may not write to ${path}`;
  return [{ words, fix: `chmod 0666 ${word(path)}` }];
}
