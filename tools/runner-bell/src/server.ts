/** Answers calls from code hosts: one on standard input, or all on an address. */
import { fstatSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { usage } from '@runner/common/foundation/failure';
import { answerTo, type BellRequest } from './answer.ts';

/** Calls that are handled concurrently; the next one gets 429. */
const AT_ONCE = 8;
/** Connections beyond this number are closed. */
const CONNECTIONS = 64;
/** For a call from its first byte to the end of the answer, in milliseconds. */
const TIMEOUT = 10_000;

function bellServer(request: BellRequest): Server {
  let active = 0;
  const handle = (incoming: IncomingMessage, response: ServerResponse) => {
    active += 1;
    response.once('close', () => {
      active -= 1;
    });
    void answerTo(request, incoming, response, active > AT_ONCE);
  };
  const server = createServer({ maxHeaderSize: 16_384, keepAlive: false }, handle);
  server.maxRequestsPerSocket = 1;
  server.maxConnections = CONNECTIONS;
  server.on('connection', (socket: Socket) => {
    const timer = setTimeout(() => socket.destroy(), TIMEOUT);
    socket.once('close', () => clearTimeout(timer));
    socket.on('error', () => {});
  });
  server.on('clientError', (_, socket) => {
    if (!socket.writable) return void socket.destroy();
    socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  });
  return server;
}

/** Answers the connection that systemd hands over as standard input. */
export function answerOne(request: BellRequest): Promise<void> {
  const socket = inherited();
  return new Promise((resolve) => {
    socket.once('close', () => resolve());
    bellServer(request).emit('connection', socket);
  });
}

function inherited(): Socket {
  if (fstatSync(0).isSocket()) return new Socket({ fd: 0, readable: true, writable: true });
  throw usage(
    'standard input is not a connection: systemd starts this with one (runner-bell.socket); elsewhere give --listen <ADDRESS>',
  );
}

/** Answers on an address until a signal arrives. */
export function listen(
  request: BellRequest,
  { host, port }: { host: string; port: number },
  signal: AbortSignal,
): Promise<void> {
  const server = bellServer(request);
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      const address = server.address();
      const shown = typeof address === 'object' ? address?.port : port;
      request.note(`listening on http://${host.includes(':') ? `[${host}]` : host}:${shown}`);
    });
    signal.addEventListener('abort', () => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  });
}
