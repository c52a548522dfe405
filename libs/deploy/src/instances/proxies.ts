/** Whether the proxies that run on this server can reach the slots of an app. */
import { readFileSync, readlinkSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { liveLink, liveSlot, slotPaths, socketIn } from '@runner/common/apps/slots';
import type { Traffic } from '@runner/common/deploy-file/instance';
import { namesIn } from '@runner/common/files/read';
import { orElse } from '@runner/common/foundation/attempt';
import { systemCode } from '@runner/common/foundation/failure';
import type { InstancePaths } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import { ask } from './drivers/ask.ts';
import { nameOf } from './reach.ts';

const PROXIES = ['nginx', 'caddy', 'haproxy'];

/** A proxy's user, and what its process sees as `/`. */
export interface Proxy {
  readonly program: string;
  readonly uid: number;
  readonly groups: readonly number[];
  /** undefined: only root may look. */
  readonly root: string | undefined;
}

/** Something that a proxy cannot do, and the command that changes it. */
export interface Obstruction {
  readonly words: string;
  readonly mend: string;
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

function closedFolders(paths: InstancePaths, proxy: Proxy): Obstruction[] {
  const live = liveSlot(paths);
  const above: string[] = [];
  for (let path = slotPaths(paths, live).dir; path !== '/'; path = dirname(path)) above.push(path);
  const [closed] = above.reverse().filter((path) => !may(proxy, path, 0o1));
  if (closed === undefined) return [];
  return [
    {
      words: `${proxy.program} (${userName(proxy.uid)}) may not enter ${closed}`,
      mend: `chmod o+x ${word(closed)}`,
    },
  ];
}

function socketObstructions(paths: InstancePaths, proxy: Proxy): Obstruction[] {
  const { program, uid, root } = proxy;
  const path = socketIn(liveLink(paths));
  if (root !== undefined && root !== '/' && !path.startsWith(`${root}/`)) {
    const words = `${program} has its root in ${root} and cannot reach ${path}: remove chroot from its configuration`;
    return [{ words, mend: `grep -rn chroot /etc/${program}` }];
  }
  const isThere = statSync(path, { throwIfNoEntry: false });
  if (!isThere || may(proxy, path, 0o2)) return [];
  const words = `${program} (${userName(uid)}) may not write to ${path}`;
  return [{ words, mend: `chmod 0666 ${word(path)}` }];
}

/** Whether a user has a right by mode or access list; what cannot be looked at is not in the way. */
function may({ uid, groups }: Proxy, path: string, right: number): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found) return true;
    const shift = found.uid === uid ? 6 : groups.includes(found.gid) ? 3 : 0;
    return ((found.mode >> shift) & right) !== 0 || isListed(uid, path, right);
  } catch (error) {
    if (systemCode(error) === 'EACCES') return true;
    throw error;
  }
}

export function userName(uid: number): string {
  const lines = orElse(() => readFileSync('/etc/passwd', 'utf8'), '').split('\n');
  const line = lines.find((each) => each.split(':')[2] === String(uid));
  return line?.split(':')[0] ?? String(uid);
}

/** Whether the access list of a path gives a user a right. */
function isListed(uid: number, path: string, right: number): boolean {
  const args = ['--numeric', '--omit-header', '--absolute-names', '--', path];
  const { stdout } = ask('getfacl', args, { env: process.env as Record<string, string> });
  // The effective rights stand in a comment if the mask takes some away.
  const entry = new RegExp(`^user:${uid}:(...)(?:\\s+#effective:(...))?$`, 'm').exec(stdout);
  const rights = entry?.[2] ?? entry?.[1] ?? '---';
  return rights[right === 0o1 ? 2 : 1] !== '-';
}
