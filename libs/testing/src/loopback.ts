import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { atExit } from './cleanup.ts';
import { type Fault, faults, meet } from './faults.ts';

/** A request as a stand-in saw it. */
export interface SeenRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The whole header, secret included; null when none was sent. */
  readonly authorization: string | null;
  /** Milliseconds of `performance.now()`. */
  readonly at: number;
  /** Status of the answer; 0 while there is none, and for ever after `drop` and `hang`. */
  status: number;
}

/** What every stand-in can do. */
export interface Loopback {
  /** `http://127.0.0.1:port`, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** All requests since the start, in order of arrival. */
  readonly requests: SeenRequest[];
  /** See Faults.fail in faults.ts. */
  fail(fault: Fault, times?: number, route?: string): void;
  /** Takes all faults back. */
  heal(): void;
  /** Ends open connections too. May be called twice. */
  close(): Promise<void>;
}

/** What a stand-in does with a request. */
export interface LoopbackService {
  /** Names the route of a request, for faults. */
  route(request: IncomingMessage): string;
  answer(request: IncomingMessage, response: ServerResponse): Promise<void> | void;
}

/** Answers as JSON. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(text)),
    ...headers,
  });
  response.end(text);
}

/** The body of a request; null when it is longer than `limit` bytes. */
export async function readBody(request: IncomingMessage, limit = 1 << 20): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= limit) chunks.push(chunk);
  }
  return size <= limit ? Buffer.concat(chunks) : null;
}

/** Listens on a free port of 127.0.0.1 until close() or the end of this process. */
export async function startLoopback(service: LoopbackService): Promise<Loopback> {
  const requests: SeenRequest[] = [];
  const queue = faults();

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const seen: SeenRequest = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      authorization: request.headers.authorization ?? null,
      at: performance.now(),
      status: 0,
    };
    requests.push(seen);
    response.on('finish', () => {
      seen.status = response.statusCode;
    });
    const fault = queue.next(service.route(request));
    if (fault === undefined || (await meet(fault, request, response))) {
      await service.answer(request, response);
    }
  };

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (request.socket.destroyed) return;
      // A bug of the stand-in must show in the test that met it.
      if (response.headersSent) request.socket.destroy();
      else {
        response.writeHead(500, { 'Content-Type': 'text/plain' });
        response.end(`stand-in: ${error instanceof Error ? error.stack : String(error)}`);
      }
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  // Alone it does not keep a process alive: a test that fails before close() still ends.
  server.unref();
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  const forget = atExit(stop);
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    fail: queue.fail,
    heal: queue.heal,
    close: () =>
      new Promise((resolve) => {
        forget();
        if (!server.listening) {
          resolve();
          return;
        }
        server.once('close', resolve);
        stop();
      }),
  };
}
