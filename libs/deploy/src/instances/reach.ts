/** Whether a slot can be reached: the length of its socket's path, its port, and what an app opened. */
import { readFileSync } from 'node:fs';
import type { NetConnectOpts } from 'node:net';
import { join } from 'node:path';
import { liveLink, socketIn } from '@runner/common/apps/slots';
import type { Traffic } from '@runner/common/deploy-file/instance';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { orElse } from '@runner/common/foundation/attempt';
import type { InstancePaths } from '@runner/common/foundation/paths';
import { holds, listenersOn, portsHeldBy } from '../run/listeners.ts';
import { ownProcesses } from '../run/processes.ts';

/** Limit of the path of a socket, in bytes: 108 with the byte that ends it. */
const SOCKET_PATH_MAX = 107;
/** HAProxy keeps ten bytes for the name of a socket that it replaces. */
const HAPROXY_PATH_MAX = 97;

/** That the longest path by which a proxy opens the socket of an instance is too long, in words. */
function longerThan(most: number, paths: InstancePaths, { canary }: Pick<DeployFile, 'canary'>) {
  const path = socketIn(canary.length > 0 ? join(paths.dir, 'share/00') : liveLink(paths));
  const bytes = Buffer.byteLength(path);
  return bytes > most ? `${path} has ${bytes} bytes` : undefined;
}

const PLAIN = { canary: [] };

/** Why the socket of an instance could not be opened by its path; undefined if it can, or has none. */
export function socketProblem(
  paths: InstancePaths,
  traffic: Pick<Traffic, 'type'> | undefined,
  file: Pick<DeployFile, 'canary'> = PLAIN,
): string | undefined {
  if (traffic?.type !== 'socket') return undefined;
  const long = longerThan(SOCKET_PATH_MAX, paths, file);
  return long && `${long}, a socket may have ${SOCKET_PATH_MAX}: use a shorter --root or name`;
}

/** Why HAProxy alone could not use the socket of an instance; undefined if it can. */
export function haproxyNote(paths: InstancePaths, file: Pick<DeployFile, 'canary'> = PLAIN) {
  const long = longerThan(HAPROXY_PATH_MAX, paths, file);
  const advice = 'use a shorter --root or name, or another proxy';
  return long && `${long}, and HAProxy accepts ${HAPROXY_PATH_MAX}: ${advice}`;
}

/** Who listens on a port, in words; undefined if it is free. */
export function portHolder(port: number): string | undefined {
  const listeners = listenersOn(port);
  const [first] = listeners;
  if (!first) return undefined;
  const pid = ownProcesses().find((each) => holds(each, listeners));
  return pid === undefined ? `a process of user ${first.uid}` : `${nameOf(pid)} (pid ${pid})`;
}

/** The name of a program. */
export function nameOf(pid: number): string {
  return orElse(() => readFileSync(join('/proc', String(pid), 'comm'), 'utf8').trim(), 'unknown');
}

/** `does it listen on PORT? It opened port 3000`. */
export function elsewhereWords(pids: readonly number[]): string {
  const ports = portsHeldBy(pids);
  const opened = ports.length > 0 ? ` It opened port ${ports.join(', ')}` : '';
  return `does it listen on PORT?${opened}`;
}

/** Whether something listens at PORT: the path of a socket, or a port. */
export async function isOpen(address: string | undefined): Promise<boolean> {
  if (address === undefined) return false;
  return address.startsWith('/')
    ? accepts({ socketPath: address })
    : listenersOn(Number(address)).length > 0;
}

/** Where something may listen. */
export type Address = { readonly socketPath: string } | { readonly port: number };

/** Longest time for a connection, in milliseconds. */
const PATIENCE = 5_000;

export async function accepts(address: Address): Promise<boolean> {
  const to = 'port' in address ? { port: address.port } : { path: address.socketPath };
  return (await connect({ ...to, timeout: PATIENCE })) === undefined;
}

/** Why no connection is accepted: the code of the error, or `timeout`; undefined if one is. */
export function connect(
  to: NetConnectOpts & { readonly timeout: number },
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = process.getBuiltinModule('node:net').connect(to);
    const end = (problem?: string) => {
      socket.destroy();
      resolve(problem);
    };
    socket.once('connect', () => end());
    // After work that took longer than the timeout, what has been answered meanwhile is read first.
    socket.once('timeout', () => setImmediate(end, 'timeout'));
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
  });
}
