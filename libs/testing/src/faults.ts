/**
 * What may go wrong between a program and an HTTP service: one vocabulary for all stand-ins, queued
 * per route.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** What goes wrong with one request. */
export type Fault =
  /** The connection ends without an answer. */
  | 'drop'
  /** The status line says 200 and promises a body; the connection ends in the middle of it. */
  | 'cut'
  /** Takes the request and never answers. */
  | 'hang'
  /** 502 with an HTML page, as a proxy in between answers. */
  | 'html'
  /** 200, announced as JSON, with a body that is not JSON. */
  | 'not-json'
  /** Answers as usual, but only after this number of milliseconds. */
  | { readonly slow: number }
  /** Answers as usual, but not before this has come about. */
  | { readonly until: Promise<unknown> }
  /** 200 with one byte at this interval in milliseconds, without an end. */
  | { readonly drip: number }
  /** 200 with a JSON string of this number of bytes. */
  | { readonly huge: number }
  /** A redirect to the same path on another origin, such as `http://127.0.0.1:8080`. Default 302. */
  | { readonly redirect: string; readonly status?: number }
  | FaultResponse;

/** This answer. A body that is not a string is sent as JSON. */
export interface FaultResponse {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The faults that wait for requests. */
export interface Faults {
  /**
   * The next `times` requests (default 1; Infinity until heal()) of a route meet `fault`. Which
   * routes there are is said by the stand-in; `*`, the default, is every route. Faults of a route
   * come before those of `*`, and each list is first in, first out.
   */
  fail(fault: Fault, times?: number, route?: string): void;
  /** Takes all faults back. */
  heal(): void;
  /** Takes the fault that a request of this route meets off the list; undefined when none waits. */
  next(route: string): Fault | undefined;
}

/** No faults yet. */
export function faults(): Faults {
  const waiting = new Map<string, { fault: Fault; times: number }[]>();
  const take = (route: string): Fault | undefined => {
    const queue = waiting.get(route);
    const first = queue?.[0];
    if (queue === undefined || first === undefined) return undefined;
    first.times -= 1;
    if (first.times <= 0) queue.shift();
    return first.fault;
  };
  return {
    fail(fault, times = 1, route = '*') {
      if (times < 1) return;
      const queue = waiting.get(route) ?? [];
      queue.push({ fault, times });
      waiting.set(route, queue);
    },
    heal: () => waiting.clear(),
    next: (route) => take(route) ?? take('*'),
  };
}

/** The page that a proxy shows when what stands behind it does not answer. */
const BAD_GATEWAY = `<html>
<head><title>502 Bad Gateway</title></head>
<body>
<center><h1>502 Bad Gateway</h1></center>
<hr><center>nginx</center>
</body>
</html>
`;

/** Gives an answer on command. */
export function sendAnswer(
  response: ServerResponse,
  { status, body = '', headers = {} }: FaultResponse,
): void {
  const isText = typeof body === 'string';
  const text = isText ? body : JSON.stringify(body);
  if (!isText) response.setHeader('Content-Type', 'application/json');
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.statusCode = status;
  response.end(text);
}

function drip(response: ServerResponse, every: number): void {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.write('"');
  const timer = setInterval(() => response.write('x'), every);
  response.on('close', () => clearInterval(timer));
}

function redirect(
  request: IncomingMessage,
  response: ServerResponse,
  origin: string,
  status: number,
) {
  response.writeHead(status, { Location: `${origin}${request.url ?? '/'}` });
  response.end();
}

/**
 * Makes a request meet a fault. Resolves true when the stand-in is to answer after all (`slow`, `until`).
 */
export async function meet(
  fault: Fault,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  // What is sent is read, so that the sender meets the fault and not a full pipe.
  if (fault !== 'drop' && !(typeof fault === 'object' && ('slow' in fault || 'until' in fault)))
    request.resume();
  if (fault === 'drop') request.socket.destroy();
  else if (fault === 'cut') {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '1000' });
    response.write('{"ok":', () => request.socket.destroy());
  } else if (fault === 'html') {
    const headers = { 'Content-Type': 'text/html' };
    sendAnswer(response, { status: 502, body: BAD_GATEWAY, headers });
  } else if (fault === 'not-json') {
    const headers = { 'Content-Type': 'application/json' };
    sendAnswer(response, { status: 200, body: '{"ok":tru', headers });
  } else if (fault === 'hang') {
    // Closing the stand-in ends the connection.
  } else if ('slow' in fault) {
    await new Promise((resolve) => setTimeout(resolve, fault.slow));
    return !request.socket.destroyed;
  } else if ('until' in fault) {
    await fault.until;
    return !request.socket.destroyed;
  } else if ('drip' in fault) drip(response, fault.drip);
  else if ('huge' in fault) sendAnswer(response, { status: 200, body: ['x'.repeat(fault.huge)] });
  else if ('redirect' in fault) redirect(request, response, fault.redirect, fault.status ?? 302);
  else sendAnswer(response, fault);
  return false;
}
