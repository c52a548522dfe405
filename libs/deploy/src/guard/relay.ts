/**
 * Plain HTTP, whose requests are passed on one by one: each must be for the host of its connection. Also a
 * proxy, for programs in a sandbox whose ports of hosts could not be opened.
 */
import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { isHostName } from '@runner/common/config/network';
import { PROXY_PORT } from '../sandbox/guarded.ts';
import type { RefusalReason } from './notes.ts';

const HEADER_MAX = 16_384;
/** Until the header of a request is there, in ms. */
const HEADER_TIME = 15_000;

/** A connection of a command, and the host that it is for. */
export interface GuardedConnection {
  readonly socket: Socket;
  /** In lower case. */
  readonly host: string;
  readonly port: number;
}

/** What the relay asks of the guard. */
interface HttpGuard {
  /** The host to whose address a connection was made. */
  hostOf(socket: Socket): string | undefined;
  refuse(asked: GuardedConnection, why: RefusalReason): void;
  reach(asked: GuardedConnection): Promise<Socket | undefined>;
  /** Of a tunnel. */
  take(asked: GuardedConnection, head: Buffer): void;
}

/** Headers that are about one connection. */
const OF_CONNECTION = /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;

/** A server that is given its connections. */
export function openHttpRelay(guard: HttpGuard): Server {
  const server = createServer({ maxHeaderSize: HEADER_MAX, headersTimeout: HEADER_TIME });
  server.requestTimeout = 0;
  server.on('request', (asked, answer) => {
    forward(guard, asked, answer).catch(() => asked.socket.destroy());
  });
  server.on('connect', (asked: IncomingMessage, socket: Socket, head: Buffer) => {
    tunnel(guard, asked, socket, head);
  });
  server.on('clientError', (_, socket) => socket.destroy());
  return server;
}

function tunnel(guard: HttpGuard, { url = '' }: IncomingMessage, socket: Socket, head: Buffer) {
  const [, host = '?', port = '0'] = /^([^:]{1,253}):(\d{1,5})$/.exec(url) ?? [];
  const asked = { socket, host: named(host), port: Number(port) };
  if (socket.localPort !== PROXY_PORT) return guard.refuse(asked, 'protocol');
  if (asked.host === '?') return guard.refuse({ ...asked, host: host.slice(0, 80) }, 'address');
  socket.write('HTTP/1.1 200 OK\r\n\r\n');
  guard.take(asked, head);
}

async function forward(guard: HttpGuard, asked: IncomingMessage, answer: ServerResponse) {
  const { socket, headers, method } = asked;
  const place = socket.localPort === PROXY_PORT ? ofProxy(asked) : ofHost(guard, asked);
  if ('why' in place) return guard.refuse({ socket, ...place }, place.why);
  const { host, port, path } = place;
  // Trailers and an upgrade would not be passed on.
  const far = await guard.reach({ socket, host, port });
  if (!far) return;
  answer.once('close', () => far.destroy());
  const kept = Object.entries(headers).filter(([name]) => !OF_CONNECTION.test(name));
  // Without it the body of a GET would be bytes that a host reads as the next request.
  const { host: said, 'transfer-encoding': coding } = headers;
  const framed = coding === undefined ? {} : { 'transfer-encoding': coding };
  const sent = request({
    createConnection: () => far,
    method,
    path,
    headers: { ...Object.fromEntries(kept), ...framed, host: said, connection: 'close' },
  });
  sent.on('error', () => socket.destroy());
  let isWhole = () => false;
  // Cut off, or another protocol: the program must not wait for the rest.
  sent.once('close', () => isWhole() || socket.destroy());
  sent.on('response', (got) => {
    const own = Object.entries(got.headers).filter(([name]) => !OF_CONNECTION.test(name));
    // What the host sends is not judged: as many headers as it has. But three digits are a status.
    const status = got.statusCode ?? 0;
    if (status < 100 || status > 999) {
      socket.destroy();
      return;
    }
    answer.writeHead(status, Object.fromEntries(own));
    isWhole = () => got.complete;
    got.pipe(answer);
  });
  asked.pipe(sent);
}

type HttpPlace =
  | { readonly host: string; readonly port: number; readonly path: string }
  | { readonly host: string; readonly port: number; readonly why: RefusalReason };

/** A request to the host itself. */
function ofHost(guard: HttpGuard, { socket, headers, url = '' }: IncomingMessage): HttpPlace {
  const host = guard.hostOf(socket) ?? '?';
  const said = (headers.host ?? '').toLowerCase().replace(/:80$/, '').replace(/\.$/, '');
  if (said !== host) return { host: said.slice(0, 253) || '?', port: 80, why: 'other_name' };
  return url.startsWith('/') ? { host, port: 80, path: url } : { host, port: 80, why: 'protocol' };
}

/** A request to a proxy: `GET http://host/path`. */
function ofProxy({ url = '', headers }: IncomingMessage): HttpPlace {
  const asked = URL.canParse(url) ? new URL(url) : undefined;
  if (asked?.protocol !== 'http:' || asked.username !== '' || asked.password !== '')
    return { host: '?', port: 80, why: 'protocol' };
  const [host, port] = [named(asked.hostname), Number(asked.port || 80)];
  if (host === '?') return { host: asked.hostname, port, why: 'address' };
  if ((headers.host ?? '').toLowerCase() !== asked.host) return { host, port, why: 'other_name' };
  return { host, port, path: `${asked.pathname}${asked.search}` };
}

/** The name of a host in lower case; `?` for an address. */
function named(text: string): string {
  const host = text.toLowerCase().replace(/\.$/, '');
  return isHostName(host) ? host : '?';
}
