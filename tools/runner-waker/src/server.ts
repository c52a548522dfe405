/**
 * Holds the requests of sleeping apps until they are awake, and passes them on byte by byte: a connection
 * belongs to the app of its first request, as one to the app's own socket does.
 */
import { chmodSync } from 'node:fs';
import { connect, createServer, type Server as NetServer, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { makeFolder, removeIfThere } from '@runner/common/files/read';
import { Failure } from '@runner/common/foundation/failure';
import type { Server } from '@runner/common/foundation/paths';
import { dial } from '@runner/deploy/instances/dial';
import { answerOf, hostIn } from './host.ts';
import { type Sleeper, sleeperOf, socketOf, Wakes } from './wakes.ts';

/** Connections beyond this number are closed. */
const CONNECTIONS = 2_000;
/** For the head of a request, in milliseconds. */
const HEAD_LIMIT = 10_000;
/** A request waits this long for its app, in milliseconds: less than a proxy does. */
const HOLD_LIMIT = 50_000;
/** It may be put to sleep again before a request reaches it. */
const TRIES = 3;
const NOT_STARTED = 'The app could not be started. Please try again soon.';
/** Without a byte in either direction, in milliseconds: WebSockets may be silent for long. */
const SILENCE = 3_600_000;
/** A client reads our answer, in milliseconds. */
const FAREWELL = 5_000;
/** Without a connection it ends, in milliseconds: systemd starts it again. */
const IDLE = 60_000;

interface WakerServer extends Server {
  note(text: string): void;
}

/** Serves the connections of the root's socket until `stop`, or while there are any. Throws `not_writable`. */
export async function serve(server: WakerServer, stop: AbortSignal): Promise<void> {
  const wakes = new Wakes(server);
  let open = 0;
  let last = performance.now();
  const net = createServer({ allowHalfOpen: true }, (client) => {
    open += 1;
    client.once('close', () => {
      open -= 1;
      last = performance.now();
    });
    hold(server, wakes, client).catch((error: unknown) => {
      if (!(error instanceof Failure)) throw error;
      // Of one request: the others go on.
      server.note(`${error.message} (${error.code})`);
      refuse(client, 503, NOT_STARTED, 1);
    });
  });
  net.maxConnections = CONNECTIONS;
  const isPassed = await listen(net, server);
  const isOver = () => open === 0 && wakes.isQuiet && performance.now() - last > IDLE;
  await new Promise<void>((resolve) => {
    const timer = isPassed && setInterval(() => isOver() && end(), 1_000);
    const end = () => {
      if (timer) clearInterval(timer);
      net.close();
      resolve();
    };
    stop.addEventListener('abort', end);
  });
}

/** Whether systemd passed the socket. */
async function listen(net: NetServer, { io, paths, note }: WakerServer): Promise<boolean> {
  const { LISTEN_PID: pid, LISTEN_FDS: count } = io.env;
  const isPassed = count === '1' && pid === String(io.pid);
  const path = paths.wakerSocket;
  if (!isPassed) {
    if (await isServed(path)) throw new Failure('locked', `another waker listens on ${path}`);
    makeFolder(dirname(path), 0o711);
    chmodSync(dirname(path), 0o711);
    removeIfThere(path);
  }
  await new Promise<void>((resolve, reject) => {
    net.once('error', reject);
    net.listen(isPassed ? { fd: 3 } : { path, readableAll: true, writableAll: true }, resolve);
  });
  if (!isPassed) note(`listening on ${path}`);
  return isPassed;
}

function isServed(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

async function hold(server: WakerServer, wakes: Wakes, client: Socket): Promise<void> {
  client.on('error', () => client.destroy());
  const head = await headOf(client);
  if (client.destroyed) return;
  if (head.host === undefined) return refuse(client, 408, 'The request was not complete in time.');
  if (head.host === null) return refuse(client, 400, 'The request has no host that can be read.');
  const sleeper = sleeperOf(server, head.host);
  if (!sleeper) return refuse(client, 404, 'No preview on this server has this name.');
  const until = performance.now() + HOLD_LIMIT;
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const again = await wakes.wake(sleeper, until - performance.now());
    if (again !== undefined) return refuse(client, 503, NOT_STARTED, again);
    if (await pass(client, head.bytes, sleeper)) return;
  }
  refuse(client, 503, NOT_STARTED, 1);
}

interface Head {
  readonly bytes: Buffer;
  readonly host: ReturnType<typeof hostIn>;
}

/** Reads until the host is known, and no further. */
function headOf(client: Socket): Promise<Head> {
  let bytes = Buffer.alloc(0);
  return new Promise((resolve) => {
    const end = (host: Head['host']) => {
      clearTimeout(timer);
      client.pause();
      client.removeListener('data', read);
      client.removeListener('end', close);
      resolve({ bytes, host });
    };
    const read = (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      const host = hostIn(bytes);
      if (host !== undefined) end(host);
    };
    const close = () => {
      client.destroy();
      end(undefined);
    };
    const timer = setTimeout(() => end(undefined), HEAD_LIMIT);
    client.on('data', read).once('end', close).once('close', close);
  });
}

/** Resolves false if the app does not accept the connection: it may have fallen asleep again. */
async function pass(client: Socket, bytes: Buffer, sleeper: Sleeper): Promise<boolean> {
  const path = socketOf(sleeper);
  if (path === undefined) return false;
  const app = await dial(client, () => path);
  if (!app) return client.destroyed;
  // What one of them has sent is written before its end is passed on: only an error ends both.
  for (const [one, other] of [
    [client, app],
    [app, client],
  ] as const) {
    one.setTimeout(SILENCE, () => one.destroy());
    one.on('error', () => other.destroy());
  }
  app.write(bytes);
  client.pipe(app);
  app.pipe(client);
  return true;
}

/** What the client still sends is read: a connection closed before that would lose the answer. */
function refuse(client: Socket, ...answer: Parameters<typeof answerOf>): void {
  client.end(answerOf(...answer));
  client.resume();
  setTimeout(() => client.destroy(), FAREWELL).unref();
}
