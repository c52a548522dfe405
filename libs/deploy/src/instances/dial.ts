/** Connections to the socket of an app, of which many that waited may come at once. */
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemCode } from '@runner/common/foundation/failure';

/** Pauses between two tries, in milliseconds: the first, which doubles, and the longest. */
const PAUSE = 5;
const PAUSE_MAX = 100;

/**
 * Opens a connection for a client. While the app's queue is full (EAGAIN: it accepts as many at once as it chose
 * in listen(2)), tries again, as long as the client is there. Resolves undefined if there is no way to the app,
 * or the client has gone.
 */
export async function dial(client: Socket, path: () => string): Promise<Socket | undefined> {
  const { connect } = process.getBuiltinModule('node:net');
  for (let pause = PAUSE; !client.destroyed; pause = Math.min(2 * pause, PAUSE_MAX)) {
    const app = connect({ path: path(), allowHalfOpen: true });
    const problem = await new Promise<unknown>((resolve) => {
      app.once('connect', () => resolve(undefined)).once('error', resolve);
    });
    if (problem === undefined && !client.destroyed) return app;
    app.destroy();
    if (systemCode(problem) !== 'EAGAIN') return undefined;
    await sleep(pause);
  }
  return undefined;
}
