/** Answers GET and HEAD; there is no other method, and nothing that a request brings is kept. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { systemFailure } from '@runner/common/foundation/failure';
import type { Live } from './live.ts';
import { HEADERS, messagePage } from './page.ts';

/** Where it listens: a descriptor of systemd, a socket, or a loopback address. */
export type ListenPlace =
  | { readonly fd: number }
  | { readonly path: string }
  | { readonly host: string; readonly port: number };

/** When it ends, and where lines for the journal go. */
interface Service {
  readonly signal: AbortSignal;
  note(text: string): void;
}

/** Connections beyond this number are closed. */
const CONNECTIONS = 1_000;
/** For the head of a request, and between two of a connection, in milliseconds. */
const TIMEOUT = 10_000;
/** With a socket of systemd, which starts it again, it ends after this long without a connection, in ms. */
const IDLE = 60_000;

const TARGET = /^(?:https?:\/\/[^/?#]+)?(?<path>\/[^?#]*)/i;
const PLACE = /^\/(?:app\/(?<app>[^/]+)(?<ofApp>\/events)?|(?<events>events))?$/;

const OTHER_METHOD = '405 Method Not Allowed\r\nAllow: GET, HEAD';

function refuse(socket: Duplex, head: string): void {
  socket.end(`HTTP/1.1 ${head}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

/** Resolves when the signal comes. Rejects if it cannot listen. */
export function serve(live: Live, place: ListenPlace, { signal, note }: Service): Promise<void> {
  const server = createServer(
    {
      maxHeaderSize: 16_384,
      headersTimeout: TIMEOUT,
      requestTimeout: TIMEOUT,
      keepAliveTimeout: TIMEOUT,
    },
    (incoming, response) => void answer(live, incoming, response, note),
  );
  server.maxConnections = CONNECTIONS;
  server.on('connect', (_, socket) => refuse(socket, OTHER_METHOD));
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
    if (!socket.writable) return void socket.destroy();
    refuse(socket, code === 'HPE_INVALID_METHOD' ? OTHER_METHOD : '400 Bad Request');
  });
  return new Promise((resolve, reject) => {
    const end = () => {
      live.close();
      server.close(() => resolve());
      server.closeAllConnections();
    };
    // The dashboard removes nothing, not even the socket that one left that was killed.
    const where = 'path' in place ? `on ${place.path} (if no dashboard runs: rm it)` : 'there';
    server.once('error', (error) =>
      reject(systemFailure(error, `listen ${where}`, 'not_configured')),
    );
    // The user of the proxy connects to a socket.
    const open = 'path' in place ? { readableAll: true, writableAll: true } : {};
    server.listen({ ...place, ...open }, () => note(`listening on ${addressOf(server)}`));
    signal.addEventListener('abort', end);
    if ('fd' in place) endWhenIdle(server, end);
  });
}

function addressOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') return String(address);
  return `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
}

function endWhenIdle(server: Server, end: () => void): void {
  let timer = setTimeout(end, IDLE);
  let open = 0;
  server.on('connection', (socket) => {
    open += 1;
    clearTimeout(timer);
    socket.once('close', () => {
      open -= 1;
      if (open === 0) timer = setTimeout(end, IDLE);
    });
  });
}

const OWN_NAME = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/** On a socket of its own a proxy with a login is in front. */
function isForeign({ headers, socket }: IncomingMessage): boolean {
  return socket.localPort !== undefined && !OWN_NAME.test(headers.host ?? 'localhost');
}

async function answer(
  live: Live,
  incoming: IncomingMessage,
  response: ServerResponse,
  note: (text: string) => void,
): Promise<void> {
  incoming.resume();
  const send = (status: number, page: string) => {
    const length = Buffer.byteLength(page);
    response.writeHead(status, { ...HEADERS, 'Content-Length': length });
    response.end(incoming.method === 'HEAD' ? undefined : page);
  };
  try {
    if (incoming.method !== 'GET' && incoming.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD').setHeader('Connection', 'close');
      return send(405, messagePage('Only GET and HEAD'));
    }
    // Another name that leads to this address is a page elsewhere that wants to read this one.
    if (isForeign(incoming))
      return send(421, messagePage('Open it as localhost; a proxy needs --listen unix:/path'));
    const path = TARGET.exec(incoming.url ?? '')?.groups?.path ?? '';
    const place = PLACE.exec(path)?.groups;
    const page = place && (await live.page(place.app));
    if (!place || page === undefined) return send(404, messagePage('There is no such page'));
    if (!place.events && !place.ofApp) return send(200, page);
    const type = { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' };
    response.writeHead(200, { ...HEADERS, ...type });
    if (incoming.method === 'HEAD') response.end();
    else live.watch(place.app, response);
  } catch (error) {
    // The name alone: a message may hold what no log should.
    note(`a page could not be drawn: ${error instanceof Error ? error.name : 'unknown'}`);
    if (response.headersSent) response.destroy();
    else send(500, messagePage('The page could not be drawn'));
  }
}
