/** Answers one call. Its content is ignored; only its signature matters. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Failure } from '@runner/common/foundation/failure';
import { type BellFolder, bellOf, ring } from './folder.ts';
import { isSigned } from './signature.ts';

export interface BellRequest {
  readonly folder: BellFolder;
  now(): Date;
  /** Prints a line for the journal. */
  note(text: string): void;
}

/** Largest call, in bytes. */
const BODY_MAX = 1_048_576;

interface BellResponse {
  readonly status: 202 | 400 | 401 | 404 | 405 | 413 | 429 | 503;
  readonly body: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

const refusal = (status: BellResponse['status'], error: string, headers = {}): BellResponse => ({
  status,
  body: { error },
  headers,
});

/** Answers, and closes the connection. */
export async function answerTo(
  request: BellRequest,
  incoming: IncomingMessage,
  response: ServerResponse,
  isBusy: boolean,
): Promise<void> {
  const { status, body, headers } = isBusy
    ? refusal(429, 'too many calls at once', { 'Retry-After': '5' })
    : await answerFor(request, incoming);
  if (response.destroyed) return;
  const text = `${JSON.stringify(body)}\n`;
  response.writeHead(status, {
    ...headers,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
    Connection: 'close',
  });
  response.end(text);
  // Drain unread data, or the host would not see the answer.
  incoming.resume();
}

/** `/shop`, or the same as an absolute address, which proxies may send (RFC 9112, 3.2.2). */
const TARGET = /^(?:https?:\/\/[^/?#]+)?\/([^/?#]+)(?:\?|$)/i;

async function answerFor(request: BellRequest, incoming: IncomingMessage): Promise<BellResponse> {
  const { folder, now, note } = request;
  if (incoming.method !== 'POST') return refusal(405, 'only POST', { Allow: 'POST' });
  const app = TARGET.exec(incoming.url ?? '')?.[1];
  try {
    const bell = app === undefined ? undefined : bellOf(folder, app);
    if (!bell || app === undefined) return refusal(404, 'no such app');
    const body = await bodyOf(incoming);
    if (body === 'cut') return refusal(400, 'the call ended early');
    if (body === 'large') return refusal(413, 'more than 1 MiB');
    if (!isSigned(bell, incoming.headers, body)) {
      note(`${app}: refused, the signature is missing or wrong`);
      return refusal(401, 'the signature is missing or wrong');
    }
    ring(folder, app, now());
    return { status: 202, body: { app, will: 'fetch' } };
  } catch (error) {
    // Logged, and the host may try again.
    note(`${app}: ${error instanceof Failure ? error.message : 'the call could not be saved'}`);
    return refusal(503, 'try again later', { 'Retry-After': '60' });
  }
}

function bodyOf(incoming: IncomingMessage): Promise<Buffer | 'cut' | 'large'> {
  if (Number(incoming.headers['content-length'] ?? 0) > BODY_MAX) return Promise.resolve('large');
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve) => {
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > BODY_MAX) {
        incoming.pause();
        resolve('large');
      } else chunks.push(chunk);
    });
    incoming.once('end', () => resolve(Buffer.concat(chunks)));
    for (const event of ['error', 'close']) incoming.once(event, () => resolve('cut'));
  });
}
