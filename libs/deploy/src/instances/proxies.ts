/** Whether the proxies that run on this server can reach the slots of an app. */
import { readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { liveLink, liveSlot, slotPaths, socketIn } from '@runner/common/apps/slots';
import type { Traffic } from '@runner/common/deploy-file/instance';
import { userName } from '@runner/common/files/person';
import { orElse } from '@runner/common/foundation/attempt';
import type { InstancePaths } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import { allProcesses } from '../run/processes.ts';
import { nameOf } from './reach.ts';
import { closedAbove, type Identity, may } from './rights.ts';

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
  const found = allProcesses()
    .filter((pid) => PROXIES.includes(nameOf(pid)))
    .flatMap((pid) => proxyOf(pid) ?? []);
  const isFirst = ({ program, uid }: Proxy, index: number) =>
    found.findIndex((each) => each.program === program && each.uid === uid) === index;
  return found.filter((proxy, index) => proxy.uid !== 0 && isFirst(proxy, index));
}

/** undefined if it has ended. */
function proxyOf(pid: number): Proxy | undefined {
  const status = orElse(() => readFileSync(`/proc/${pid}/status`, 'utf8'), undefined);
  if (status === undefined) return undefined;
  // The list of groups ends with a space, after which comes no group 0.
  const ids = (name: string) =>
    (new RegExp(`^${name}:.*`, 'm').exec(status)?.[0].match(/\d+/g) ?? []).map(Number);
  const [, uid = 0] = ids('Uid');
  const [, gid = 0] = ids('Gid');
  const groups = [gid, ...ids('Groups')];
  const root = orElse(() => readlinkSync(`/proc/${pid}/root`), undefined);
  return { program: nameOf(pid), uid, groups, root };
}

/**
 * What keeps the proxies of this server from the slots of an instance, or from `folder` above them; `isReached`:
 * another one reaches them, and may be the one that serves the app.
 */
export function obstructions(
  paths: InstancePaths,
  traffic: Traffic,
  folder = slotPaths(paths, liveSlot(paths)).dir,
) {
  // A command moves the requests: the proxy does not look into the folders.
  const all = traffic.type === 'command' ? [] : proxies();
  const each = all.map((proxy) => [
    ...closedFolders(folder, proxy),
    ...(traffic.type === 'socket' ? chrooted(paths, proxy) : []),
  ]);
  return { found: each.flat(), isReached: each.some((found) => found.length === 0) };
}

/**
 * What will keep every proxy of this server from the next slot, whose own folders a start opens; empty if
 * one reaches it.
 */
export function unreached(paths: InstancePaths, traffic: Traffic): Obstruction[] {
  const { found, isReached } = obstructions(paths, traffic, dirname(dirname(paths.dir)));
  return isReached ? [] : found;
}

/** The proxies that may not write to the live socket: each start opens it to those that run then. */
export function closedSockets(app: string, paths: InstancePaths): Obstruction[] {
  const path = socketIn(liveLink(paths));
  const isThere = statSync(path, { throwIfNoEntry: false });
  return proxies()
    .filter((proxy) => isThere && !may(proxy, path, 0o2))
    .map(({ program, uid }) => ({
      words: `${program} (${userName(uid)}) may not write to ${path}`,
      fix: `runner restart ${word(app)}`,
    }));
}

/** The certificates and keys that Caddy, unlike others, reads as its own user and may not. */
export function unreadable(
  user: Identity,
  name: string,
  files: readonly string[],
): Obstruction | undefined {
  const allow = (right: string, path: string) => `sudo setfacl -m u:${name}:${right} ${word(path)}`;
  const commandsFor = (file: string): string[] => {
    const real = orElse(() => realpathSync(file), file);
    const folders = [dirname(file), dirname(real)].flatMap((each) => closedAbove(user, each));
    const own = may(user, real, 0o4) ? [] : [allow('r', real)];
    return [...folders.map((each) => allow('x', each)), ...own];
  };
  const closed = files.filter((file) => commandsFor(file).length > 0);
  if (closed.length === 0) return undefined;
  const words = `caddy runs as ${name}, who may not read ${closed.join(' and ')}`;
  return { words, fix: [...new Set(closed.flatMap(commandsFor))].join(' && ') };
}

function closedFolders(folder: string, proxy: Proxy): Obstruction[] {
  const [closed] = closedAbove(proxy, folder);
  if (closed === undefined) return [];
  const words = `${proxy.program} (${userName(proxy.uid)}) may not enter ${closed}`;
  return [{ words, fix: `chmod o+x ${word(closed)}` }];
}

function chrooted(paths: InstancePaths, { program, root }: Proxy): Obstruction[] {
  const path = socketIn(liveLink(paths));
  if (root === undefined || root === '/' || path.startsWith(`${root}/`)) return [];
  const words = `${program} has its root in ${root} and cannot reach ${path}: remove chroot from its configuration`;
  return [{ words, fix: `grep -rn chroot /etc/${program}` }];
}
