/** Connections to the socket of an app, of which many that waited may come at once. */
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { O_PATH } from '@runner/common/files/tree';
import { orElse } from '@runner/common/foundation/attempt';
import { systemCode } from '@runner/common/foundation/failure';

/** Pauses between two tries, in milliseconds: the first, which doubles, and the longest. */
const PAUSE = 5;
const PAUSE_MAX = 100;

/** The socket itself, not what its name leads to a moment later; undefined if it is not one. */
export function socketAt(path: string): number | undefined {
  const fd = orElse(() => openSync(path, O_PATH | constants.O_NOFOLLOW), undefined);
  if (fd === undefined || fstatSync(fd).isSocket()) return fd;
  closeSync(fd);
  return undefined;
}

/**
 * Opens a connection for a client. While the app's queue is full (EAGAIN: it accepts as many at once as it chose
 * in listen(2)), tries again, as long as the client is there. Resolves undefined if there is no way to the app,
 * or the client has gone. An app may put a link in place of its socket, to one that is open to runner alone.
 */
export async function dial(client: Socket, path: () => string): Promise<Socket | undefined> {
  const { connect } = process.getBuiltinModule('node:net');
  for (let pause = PAUSE; !client.destroyed; pause = Math.min(2 * pause, PAUSE_MAX)) {
    const fd = socketAt(path());
    if (fd === undefined) return undefined;
    const app = connect({ path: `/proc/self/fd/${fd}`, allowHalfOpen: true });
    const problem = await new Promise<unknown>((resolve) => {
      app.once('connect', () => resolve(undefined)).once('error', resolve);
    });
    closeSync(fd);
    if (problem === undefined && !client.destroyed) return app;
    app.destroy();
    if (systemCode(problem) !== 'EAGAIN') return undefined;
    await sleep(pause);
  }
  return undefined;
}
