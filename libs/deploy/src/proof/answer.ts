/** Where something that was started listens, and what it answers there. */
import { closeSync, constants, openSync, realpathSync } from 'node:fs';
import type { RequestOptions } from 'node:http';
import { basename, dirname, resolve } from 'node:path';
import { O_PATH } from '@runner/common/files/tree';
import { orElse } from '@runner/common/foundation/attempt';
import { holds, portsHeldBy, tableOf } from '../run/listeners.ts';

const { O_DIRECTORY } = constants;

/** A port of this machine, or the path of a socket. */
export type Listening = { readonly port: number } | { readonly socket: string };

/** An answer to a GET. */
export interface PathAnswer {
  readonly path: string;
  readonly status: number;
}

/** Longest wait for one answer, in milliseconds. */
const PATIENCE = 5_000;
/** __SO_ACCEPTCON in /proc/net/unix: it listens. */
const ACCEPTS = 0x10000;

/** Where processes listen: first the port that they were given, then others, then sockets below `folder`. */
export function listeningOf(pids: readonly number[], given: number, folder: string): Listening[] {
  const ports = portsHeldBy(pids).sort(
    (a, b) => Number(b === given) - Number(a === given) || a - b,
  );
  return [...ports.map((port) => ({ port })), ...socketsOf(pids, folder)];
}

function socketsOf(pids: readonly number[], folder: string): Listening[] {
  return tableOf('unix').flatMap((row) => {
    const [, , , flags = '', , , inode, path] = row.trim().split(/\s+/);
    if (path === undefined || path.startsWith('@')) return [];
    if ((Number.parseInt(flags, 16) & ACCEPTS) === 0) return [];
    const own = [{ socket: `socket:[${inode}]`, uid: 0 }];
    if (!pids.some((pid) => holds(pid, own))) return [];
    const socket = orElse(() => realpathSync(resolve(folder, path)), undefined);
    return socket?.startsWith(`${folder}/`) ? [{ socket }] : [];
  });
}

/** The answers on some paths, up to the first from 200 to 299. */
export async function answersOf(at: Listening, paths: readonly string[]): Promise<PathAnswer[]> {
  const answers: PathAnswer[] = [];
  const folder = 'port' in at ? undefined : openSync(dirname(at.socket), O_PATH | O_DIRECTORY);
  // The whole path of a socket may be longer than the kernel takes.
  const where: RequestOptions =
    'port' in at
      ? { host: '127.0.0.1', port: at.port }
      : { socketPath: `/proc/self/fd/${folder}/${basename(at.socket)}` };
  try {
    for (const path of paths) {
      const status = await statusOf(where, path);
      if (status === undefined) continue;
      answers.push({ path, status });
      if (isGood(status)) break;
    }
    return answers;
  } finally {
    if (folder !== undefined) closeSync(folder);
  }
}

/** Whether a status says that an app is healthy. */
export const isGood = (status: number): boolean => status >= 200 && status <= 299;

/** undefined: there was no answer. */
function statusOf(where: RequestOptions, path: string): Promise<number | undefined> {
  const { get } = process.getBuiltinModule('node:http');
  return new Promise((done) => {
    const signal = AbortSignal.timeout(PATIENCE);
    const request = get({ ...where, path, agent: false, signal }, (response) => {
      done(response.statusCode);
      response.destroy();
    });
    request.on('error', () => done(undefined));
  });
}
